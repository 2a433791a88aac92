package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	common "forge-contract-driver/gen/forge/common/v1"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Statuses without a ForgeError come from a proxy, the library or the network. What is not here is a broken connection.
var codeOf = map[codes.Code]common.ErrorCode{
	codes.InvalidArgument:    common.ErrorCode_ERROR_CODE_VALIDATION,
	codes.DeadlineExceeded:   common.ErrorCode_ERROR_CODE_DEADLINE_EXCEEDED,
	codes.NotFound:           common.ErrorCode_ERROR_CODE_NOT_FOUND,
	codes.AlreadyExists:      common.ErrorCode_ERROR_CODE_CONFLICT,
	codes.FailedPrecondition: common.ErrorCode_ERROR_CODE_CONFLICT,
	codes.PermissionDenied:   common.ErrorCode_ERROR_CODE_PERMISSION_DENIED,
	codes.ResourceExhausted:  common.ErrorCode_ERROR_CODE_RESOURCE_EXHAUSTED,
	codes.Unimplemented:      common.ErrorCode_ERROR_CODE_UNSUPPORTED,
	codes.Unauthenticated:    common.ErrorCode_ERROR_CODE_UNAUTHENTICATED,
}

// forgeError is a ForgeError that this side has noticed.
type forgeError struct{ detail *common.ForgeError }

func (e forgeError) Error() string { return e.detail.Message }

// toForgeError is what an rpc failed with; nil where it did not.
func toForgeError(ctx context.Context, err error) *common.ForgeError {
	if err == nil {
		return nil
	}
	var noticed forgeError
	if errors.As(err, &noticed) {
		return noticed.detail
	}
	known := status.Convert(err)
	for _, detail := range known.Details() {
		if failure, ok := detail.(*common.ForgeError); ok {
			return failure
		}
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &common.ForgeError{Code: common.ErrorCode_ERROR_CODE_CANCELLED, Message: "the call was given up by its caller", Origin: "client"}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &common.ForgeError{Code: common.ErrorCode_ERROR_CODE_DEADLINE_EXCEEDED, Message: "the call was not answered in time", Origin: "client"}
	}
	if code, ok := codeOf[known.Code()]; ok {
		return &common.ForgeError{Code: code, Message: known.Message(), Origin: "client"}
	}
	return &common.ForgeError{
		Code: common.ErrorCode_ERROR_CODE_STORAGE_ERROR, Reason: "TRANSPORT", Message: known.Message(), Retryable: true, Origin: "client",
	}
}

// isPassing says whether the same call, with the same command id, may succeed when it is made again.
func isPassing(failure *common.ForgeError) bool {
	switch failure.GetCode() {
	case common.ErrorCode_ERROR_CODE_STORAGE_ERROR:
		return true
	case common.ErrorCode_ERROR_CODE_RESOURCE_EXHAUSTED:
		return failure.Retryable
	}
	return false
}

// pause waits between attempts: 50 ms doubled each time up to 2 s, with jitter. False when the context ends first.
func pause(ctx context.Context, attempt int) bool {
	wait := min(2*time.Second, 50*time.Millisecond<<min(attempt, 10))
	select {
	case <-time.After(wait/2 + rand.N(wait/2)):
		return true
	case <-ctx.Done():
		return false
	}
}
