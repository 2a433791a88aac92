package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	common "forge-contract-driver/gen/forge/common/v1"
	contract "forge-contract-driver/gen/forge/contract/v1"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// How long a call is made again while it fails in transit.
const patience = time.Minute

// driver holds the clients that the suite opened, and what is under way.
type driver struct {
	send    func(*contract.DriverResponse)
	mutex   sync.Mutex
	clients map[uint64]*client
	// By the id of a call or stream.
	cancels map[uint64]context.CancelFunc
	credits map[uint64]*credit
}

func newDriver(send func(*contract.DriverResponse)) *driver {
	return &driver{send: send, clients: map[uint64]*client{}, cancels: map[uint64]context.CancelFunc{}, credits: map[uint64]*credit{}}
}

// handle never waits: what takes time goes on beside the next request.
func (d *driver) handle(request *contract.DriverRequest) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	id := request.Id
	switch kind := request.Kind.(type) {
	case *contract.DriverRequest_Describe:
		d.send(&contract.DriverResponse{Id: id, Kind: &contract.DriverResponse_Description{Description: describe()}})
	case *contract.DriverRequest_OpenClient:
		client, err := openClient(kind.OpenClient)
		if err != nil {
			d.send(failed(id, err))
			return
		}
		d.clients[id] = client
		d.send(&contract.DriverResponse{Id: id, Kind: &contract.DriverResponse_ClientOpened{ClientOpened: &contract.ClientOpened{}}})
	case *contract.DriverRequest_CloseClient:
		if client := d.clients[kind.CloseClient.Client]; client != nil {
			delete(d.clients, kind.CloseClient.Client)
			client.close()
		}
		d.send(&contract.DriverResponse{Id: id, Kind: &contract.DriverResponse_ClientClosed{ClientClosed: &contract.ClientClosed{}}})
	case *contract.DriverRequest_Call:
		if client := d.clientOf(id, kind.Call.Client); client != nil {
			ctx := d.begin(id, client, kind.Call.TimeoutMs)
			go d.call(ctx, id, client, kind.Call)
		}
	case *contract.DriverRequest_OpenStream:
		if client := d.clientOf(id, kind.OpenStream.Client); client != nil {
			ctx := d.begin(id, client, kind.OpenStream.TimeoutMs)
			credit := newCredit(kind.OpenStream.Pull)
			d.credits[id] = credit
			go d.stream(ctx, id, client, kind.OpenStream, credit)
		}
	case *contract.DriverRequest_Pull:
		if credit := d.credits[kind.Pull.Stream]; credit != nil {
			credit.add(kind.Pull.Count)
		}
	case *contract.DriverRequest_Cancel:
		if cancel := d.cancels[kind.Cancel.Target]; cancel != nil {
			cancel()
		}
	default:
		d.send(failed(id, fmt.Errorf("a request of a kind that this driver does not know")))
	}
}

func (d *driver) close() {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for _, client := range d.clients {
		client.close()
	}
}

func (d *driver) clientOf(id uint64, clientId uint64) *client {
	client := d.clients[clientId]
	if client == nil {
		d.send(failed(id, fmt.Errorf("there is no client %d", clientId)))
	}
	return client
}

// begin makes the context of a call or stream: it ends with its client, at its deadline, or when the suite gives it up.
func (d *driver) begin(id uint64, client *client, timeoutMs uint32) context.Context {
	ctx, cancel := context.WithCancel(client.ctx)
	if timeoutMs > 0 {
		ctx, cancel = context.WithTimeout(client.ctx, time.Duration(timeoutMs)*time.Millisecond)
	}
	d.cancels[id] = cancel
	return ctx
}

func (d *driver) end(id uint64) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if cancel := d.cancels[id]; cancel != nil {
		cancel()
	}
	delete(d.cancels, id)
	delete(d.credits, id)
}

func (d *driver) call(ctx context.Context, id uint64, client *client, call *contract.UnaryCall) {
	defer d.end(id)
	method := client.unary[call.Method]
	if method == nil {
		d.send(failed(id, fmt.Errorf("there is no unary method %s", call.Method)))
		return
	}
	request, err := call.Request.UnmarshalNew()
	if err != nil {
		d.send(failed(id, err))
		return
	}
	var response proto.Message
	attempt := func() (failure *common.ForgeError) {
		response, err = method(ctx, request)
		return toForgeError(ctx, err)
	}
	failure := attempt()
	until := time.Now().Add(patience)
	for tries := 0; call.Retry && isPassing(failure) && time.Now().Before(until) && pause(ctx, tries); tries++ {
		failure = attempt()
	}
	outcome := &contract.CallOutcome{Kind: &contract.CallOutcome_Error{Error: failure}}
	if failure == nil {
		packed, err := anypb.New(response)
		if err != nil {
			d.send(failed(id, err))
			return
		}
		outcome.Kind = &contract.CallOutcome_Response{Response: packed}
	}
	d.send(&contract.DriverResponse{Id: id, Kind: &contract.DriverResponse_Call{Call: outcome}})
}

func (d *driver) stream(ctx context.Context, id uint64, client *client, open *contract.OpenStream, credit *credit) {
	defer d.end(id)
	method := client.streaming[open.Method]
	if method == nil || (open.Resume && open.Method != subscribeEvents) {
		d.send(failed(id, fmt.Errorf("there is no such stream of %s", open.Method)))
		return
	}
	request, err := open.Request.UnmarshalNew()
	if err != nil {
		d.send(failed(id, err))
		return
	}
	mayRead := func() bool { return credit.take(ctx) }
	onItem := func(message proto.Message) {
		packed, err := anypb.New(message)
		if err != nil {
			d.send(failed(id, err))
			return
		}
		d.send(&contract.DriverResponse{Id: id, Kind: &contract.DriverResponse_StreamItem{StreamItem: &contract.StreamItem{Message: packed}}})
	}
	var failure *common.ForgeError
	if open.Resume {
		failure = follow(ctx, method, request, mayRead, onItem)
	} else {
		failure = toForgeError(ctx, method(ctx, request, mayRead, onItem))
	}
	d.send(&contract.DriverResponse{Id: id, Kind: &contract.DriverResponse_StreamEnd{StreamEnd: &contract.StreamEnd{Error: failure}}})
}

func describe() *contract.Description {
	client := newClient(context.Background(), nil)
	methods := []string{}
	for name := range client.unary {
		methods = append(methods, name)
	}
	for name := range client.streaming {
		methods = append(methods, name)
	}
	slices.Sort(methods)
	return &contract.Description{Implementation: "go", Language: "Go", Methods: methods}
}
