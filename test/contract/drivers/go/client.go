package main

import (
	"context"
	"errors"
	"io"
	"net/url"
	"time"

	artifact "forge-contract-driver/gen/forge/artifact/v1"
	contract "forge-contract-driver/gen/forge/contract/v1"
	event "forge-contract-driver/gen/forge/event/v1"
	session "forge-contract-driver/gen/forge/session/v1"
	token "forge-contract-driver/gen/forge/token/v1"
	worker "forge-contract-driver/gen/forge/worker/v1"
	workflow "forge-contract-driver/gen/forge/workflow/v1"
	workspace "forge-contract-driver/gen/forge/workspace/v1"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

const (
	// Far more than any answer should be: the longest is a range of a conversation.
	answerBytesMax = 64 << 20
	// Small and fixed: who reads slowly is to hold little back.
	windowBytes = 64 << 10
)

type unaryMethod func(ctx context.Context, request proto.Message) (proto.Message, error)

// streamingMethod opens a stream and reads it to its end, one item whenever mayRead returns, or until that returns false.
type streamingMethod func(ctx context.Context, request proto.Message, mayRead func() bool, onItem func(proto.Message)) error

// client is the generated stubs of every service on one connection, by the full names of their methods.
type client struct {
	ctx       context.Context
	cancel    context.CancelFunc
	conn      *grpc.ClientConn
	unary     map[string]unaryMethod
	streaming map[string]streamingMethod
}

func openClient(open *contract.OpenClient) (*client, error) {
	address, err := url.Parse(open.Url)
	if err != nil {
		return nil, err
	}
	transport := insecure.NewCredentials()
	if address.Scheme == "https" {
		transport = credentials.NewTLS(nil)
	}
	conn, err := grpc.NewClient(address.Host,
		grpc.WithTransportCredentials(transport),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(answerBytesMax)),
		grpc.WithInitialWindowSize(windowBytes),
		grpc.WithInitialConnWindowSize(windowBytes),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 10 * time.Second,
		}),
	)
	if err != nil {
		return nil, err
	}
	headers := []string{"authorization", "Bearer " + open.Token}
	if open.Namespace != "" {
		headers = append(headers, "forge-namespace", open.Namespace)
	}
	return newClient(metadata.AppendToOutgoingContext(context.Background(), headers...), conn), nil
}

func newClient(parent context.Context, conn *grpc.ClientConn) *client {
	ctx, cancel := context.WithCancel(parent)
	sessions, workflows := session.NewSessionServiceClient(conn), workflow.NewWorkflowServiceClient(conn)
	schedules := workflow.NewScheduleServiceClient(conn)
	events, approvals := event.NewEventServiceClient(conn), event.NewApprovalServiceClient(conn)
	artifacts, workspaces := artifact.NewArtifactServiceClient(conn), workspace.NewWorkspaceServiceClient(conn)
	tokens, workers := token.NewTokenServiceClient(conn), worker.NewWorkerServiceClient(conn)
	return &client{
		ctx: ctx, cancel: cancel, conn: conn,
		unary: map[string]unaryMethod{
			"forge.artifact.v1.ArtifactService/PutArtifact":        unary(artifacts.PutArtifact),
			"forge.event.v1.ApprovalService/ResolveApproval":       unary(approvals.ResolveApproval),
			"forge.event.v1.ApprovalService/ListPendingApprovals":  unary(approvals.ListPendingApprovals),
			"forge.event.v1.EventService/GetCommandResult":         unary(events.GetCommandResult),
			"forge.session.v1.SessionService/CreateSession":        unary(sessions.CreateSession),
			"forge.session.v1.SessionService/StartTurn":            unary(sessions.StartTurn),
			"forge.session.v1.SessionService/CancelTurn":           unary(sessions.CancelTurn),
			"forge.session.v1.SessionService/AbandonTurn":          unary(sessions.AbandonTurn),
			"forge.session.v1.SessionService/SteerTurn":            unary(sessions.SteerTurn),
			"forge.session.v1.SessionService/PauseTurn":            unary(sessions.PauseTurn),
			"forge.session.v1.SessionService/ContinueTurn":         unary(sessions.ContinueTurn),
			"forge.session.v1.SessionService/ProvideInput":         unary(sessions.ProvideInput),
			"forge.session.v1.SessionService/ForkSession":          unary(sessions.ForkSession),
			"forge.session.v1.SessionService/UpdateSessionPolicy":  unary(sessions.UpdateSessionPolicy),
			"forge.session.v1.SessionService/CompactSession":       unary(sessions.CompactSession),
			"forge.session.v1.SessionService/UndoChanges":          unary(sessions.UndoChanges),
			"forge.session.v1.SessionService/RewindSession":        unary(sessions.RewindSession),
			"forge.session.v1.SessionService/ListChanges":          unary(sessions.ListChanges),
			"forge.session.v1.SessionService/CloseSession":         unary(sessions.CloseSession),
			"forge.session.v1.SessionService/GetSessionSnapshot":   unary(sessions.GetSessionSnapshot),
			"forge.session.v1.SessionService/ListSessions":         unary(sessions.ListSessions),
			"forge.session.v1.SessionService/ReadConversation":     unary(sessions.ReadConversation),
			"forge.token.v1.TokenService/CreateToken":              unary(tokens.CreateToken),
			"forge.token.v1.TokenService/ListTokens":               unary(tokens.ListTokens),
			"forge.token.v1.TokenService/RevokeToken":              unary(tokens.RevokeToken),
			"forge.worker.v1.WorkerService/Register":               unary(workers.Register),
			"forge.worker.v1.WorkerService/LeaseTasks":             unary(workers.LeaseTasks),
			"forge.worker.v1.WorkerService/StartTasks":             unary(workers.StartTasks),
			"forge.worker.v1.WorkerService/Heartbeat":              unary(workers.Heartbeat),
			"forge.worker.v1.WorkerService/ReportOutput":           unary(workers.ReportOutput),
			"forge.worker.v1.WorkerService/SettleTasks":            unary(workers.SettleTasks),
			"forge.worker.v1.WorkerService/Drain":                  unary(workers.Drain),
			"forge.workflow.v1.ScheduleService/PutSchedule":        unary(schedules.PutSchedule),
			"forge.workflow.v1.ScheduleService/GetSchedule":        unary(schedules.GetSchedule),
			"forge.workflow.v1.ScheduleService/ListSchedules":      unary(schedules.ListSchedules),
			"forge.workflow.v1.ScheduleService/PauseSchedule":      unary(schedules.PauseSchedule),
			"forge.workflow.v1.ScheduleService/ContinueSchedule":   unary(schedules.ContinueSchedule),
			"forge.workflow.v1.ScheduleService/DeleteSchedule":     unary(schedules.DeleteSchedule),
			"forge.workflow.v1.ScheduleService/TriggerSchedule":    unary(schedules.TriggerSchedule),
			"forge.workflow.v1.ScheduleService/ListScheduleTimes":  unary(schedules.ListScheduleTimes),
			"forge.workflow.v1.WorkflowService/StartRun":           unary(workflows.StartRun),
			"forge.workflow.v1.WorkflowService/CancelRun":          unary(workflows.CancelRun),
			"forge.workflow.v1.WorkflowService/GetRun":             unary(workflows.GetRun),
			"forge.workflow.v1.WorkflowService/SignalRun":          unary(workflows.SignalRun),
			"forge.workflow.v1.WorkflowService/PauseRun":           unary(workflows.PauseRun),
			"forge.workflow.v1.WorkflowService/ContinueRun":        unary(workflows.ContinueRun),
			"forge.workflow.v1.WorkflowService/ResumeRun":          unary(workflows.ResumeRun),
			"forge.workflow.v1.WorkflowService/ForkRun":            unary(workflows.ForkRun),
			"forge.workflow.v1.WorkflowService/ReplayRun":          unary(workflows.ReplayRun),
			"forge.workflow.v1.WorkflowService/ArchiveRuns":        unary(workflows.ArchiveRuns),
			"forge.workflow.v1.WorkflowService/RegisterDefinition": unary(workflows.RegisterDefinition),
			"forge.workflow.v1.WorkflowService/GetDefinition":      unary(workflows.GetDefinition),
			"forge.workflow.v1.WorkflowService/ListDefinitions":    unary(workflows.ListDefinitions),
			"forge.workflow.v1.WorkflowService/ListRuns":           unary(workflows.ListRuns),
			"forge.workspace.v1.WorkspaceService/CreateRevision":   unary(workspaces.CreateRevision),
			"forge.workspace.v1.WorkspaceService/GetRevision":      unary(workspaces.GetRevision),
			"forge.workspace.v1.WorkspaceService/ListRevisions":    unary(workspaces.ListRevisions),
		},
		streaming: map[string]streamingMethod{
			"forge.artifact.v1.ArtifactService/GetArtifact": streaming(artifacts.GetArtifact),
			"forge.event.v1.EventService/SubscribeEvents":   streaming(events.SubscribeEvents),
			"forge.event.v1.EventService/WatchStreams":      streaming(events.WatchStreams),
		},
	}
}

// close ends what is open with `cancelled`.
func (c *client) close() {
	c.cancel()
	c.conn.Close()
}

func unary[Q, S proto.Message](stub func(context.Context, Q, ...grpc.CallOption) (S, error)) unaryMethod {
	return func(ctx context.Context, request proto.Message) (proto.Message, error) {
		typed, ok := request.(Q)
		if !ok {
			return nil, errors.New("the request is of another method")
		}
		return stub(ctx, typed)
	}
}

func streaming[Q proto.Message, S any, P interface {
	*S
	proto.Message
}](stub func(context.Context, Q, ...grpc.CallOption) (grpc.ServerStreamingClient[S], error)) streamingMethod {
	return func(ctx context.Context, request proto.Message, mayRead func() bool, onItem func(proto.Message)) error {
		typed, ok := request.(Q)
		if !ok {
			return errors.New("the request is of another method")
		}
		stream, err := stub(ctx, typed)
		for err == nil {
			if !mayRead() {
				return ctx.Err()
			}
			var item *S
			if item, err = stream.Recv(); err == nil {
				err = spoken(P(item))
			}
			if err == nil {
				onItem(P(item))
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
}
