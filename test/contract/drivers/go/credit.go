package main

import (
	"context"
	"sync"
)

// credit counts how many items of a stream may be read.
type credit struct {
	mutex sync.Mutex
	left  uint32
	// Closed and replaced when more comes.
	more chan struct{}
}

func newCredit(count uint32) *credit {
	return &credit{left: count, more: make(chan struct{})}
}

func (c *credit) add(count uint32) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.left += count
	close(c.more)
	c.more = make(chan struct{})
}

// take waits for one; false when the context ends first.
func (c *credit) take(ctx context.Context) bool {
	for ctx.Err() == nil {
		c.mutex.Lock()
		more := c.more
		if c.left > 0 {
			c.left--
			c.mutex.Unlock()
			return true
		}
		c.mutex.Unlock()
		select {
		case <-more:
		case <-ctx.Done():
		}
	}
	return false
}
