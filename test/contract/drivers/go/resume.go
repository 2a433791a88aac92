package main

import (
	"context"

	common "forge-contract-driver/gen/forge/common/v1"
	event "forge-contract-driver/gen/forge/event/v1"

	"google.golang.org/protobuf/proto"
)

const subscribeEvents = "forge.event.v1.EventService/SubscribeEvents"

// follow reads a subscription over lost connections: it asks again for what comes after the last seq that it has passed on, and passes nothing on twice.
func follow(ctx context.Context, subscribe streamingMethod, request proto.Message, mayRead func() bool, onItem func(proto.Message)) *common.ForgeError {
	asked := request.(*event.SubscribeEventsRequest)
	passed := map[string]uint64{}
	for _, cursor := range asked.Streams {
		passed[cursor.Stream.GetId()] = cursor.AfterSeq
	}
	// True where the seq is new. A stream that was not asked for is a child.
	move := func(stream *common.StreamRef, seq uint64) bool {
		if last, ok := passed[stream.GetId()]; ok && seq <= last {
			return false
		}
		passed[stream.GetId()] = seq
		return true
	}
	caughtUp, attempt, isAllowed := false, 0, false
	// What is left out costs the reader nothing: what it allowed still holds.
	mayReadOn := func() bool {
		isAllowed = isAllowed || mayRead()
		return isAllowed
	}
	pass := func(message proto.Message) {
		attempt = 0
		isNew := true
		switch kind := message.(*event.SubscribeEventsResponse).Kind.(type) {
		case *event.SubscribeEventsResponse_Event:
			isNew = move(kind.Event.Stream, kind.Event.Seq)
		case *event.SubscribeEventsResponse_Position:
			move(kind.Position.Stream, kind.Position.Seq)
		case *event.SubscribeEventsResponse_CaughtUp:
			for _, position := range kind.CaughtUp.Positions {
				move(position.Stream, position.Seq)
			}
			isNew, caughtUp = !caughtUp, true
		}
		if isNew {
			isAllowed = false
			onItem(message)
		}
	}
	for {
		again := proto.Clone(asked).(*event.SubscribeEventsRequest)
		for _, cursor := range again.Streams {
			// A child is found by its parent's event, so with children everything is read again and what has been passed on is left out.
			if !asked.FollowChildren {
				cursor.AfterSeq = passed[cursor.Stream.GetId()]
			}
		}
		failure := toForgeError(ctx, subscribe(ctx, again, mayReadOn, pass))
		if ctx.Err() != nil {
			// Its reader has had enough, which is how most subscriptions end.
			return nil
		}
		if failure == nil && asked.NoFollow || failure != nil && !isPassing(failure) {
			return failure
		}
		pause(ctx, attempt)
		attempt++
	}
}
