// The Go driver of the contract suite. Forge has no SDK for Go: this is what protoc-gen-go and grpc-go make of the contracts, and the little that a program has
// to add to them.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	contract "forge-contract-driver/gen/forge/contract/v1"

	"google.golang.org/protobuf/proto"
)

const frameBytesMax = 64 << 20

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve answers frames until the input ends.
func serve(input io.Reader, output io.Writer) error {
	var writing sync.Mutex
	driver := newDriver(func(response *contract.DriverResponse) {
		frame, err := toFrame(response)
		if err != nil {
			frame, _ = toFrame(failed(response.Id, err))
		}
		writing.Lock()
		defer writing.Unlock()
		// The suite is gone when this fails; the input ends then as well.
		_, _ = output.Write(frame)
	})
	defer driver.close()
	reader := bufio.NewReader(input)
	for {
		request, err := readFrame(reader)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		driver.handle(request)
	}
}

func readFrame(reader io.Reader) (*contract.DriverRequest, error) {
	var header [4]byte
	if _, err := io.ReadFull(reader, header[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(header[:])
	if length > frameBytesMax {
		return nil, fmt.Errorf("a frame of %d bytes is longer than %d", length, frameBytesMax)
	}
	bytes := make([]byte, length)
	if _, err := io.ReadFull(reader, bytes); err != nil {
		return nil, err
	}
	request := &contract.DriverRequest{}
	return request, proto.Unmarshal(bytes, request)
}

func toFrame(response *contract.DriverResponse) ([]byte, error) {
	return proto.MarshalOptions{}.MarshalAppend(binary.BigEndian.AppendUint32(nil, uint32(proto.Size(response))), response)
}

func failed(id uint64, err error) *contract.DriverResponse {
	return &contract.DriverResponse{Id: id, Kind: &contract.DriverResponse_Failure{Failure: &contract.DriverFailure{Message: err.Error()}}}
}
