package main

import (
	"fmt"

	common "forge-contract-driver/gen/forge/common/v1"
	event "forge-contract-driver/gen/forge/event/v1"

	"google.golang.org/protobuf/proto"
)

// Of the protocol that this client speaks. A larger minor only adds what may be passed over.
const major = 1

// spoken refuses an event of another major version, whose fields may mean something else.
func spoken(message proto.Message) error {
	response, ok := message.(*event.SubscribeEventsResponse)
	if !ok || response.GetEvent().GetVersion() == nil || response.GetEvent().Version.Major == major {
		return nil
	}
	return forgeError{&common.ForgeError{
		Code:       common.ErrorCode_ERROR_CODE_UNSUPPORTED_VERSION,
		Message:    fmt.Sprintf("event %d is of protocol version %d, and this client speaks %d", response.GetEvent().Seq, response.GetEvent().Version.Major, major),
		Origin:     "client",
		RelatedIds: []string{response.GetEvent().Stream.GetId()},
		Metadata:   map[string]string{"seq": fmt.Sprint(response.GetEvent().Seq), "supported": fmt.Sprintf("%d.0", major)},
	}}
}
