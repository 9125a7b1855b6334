package satchel

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	indexv1 "satchel.dev/go/api/index/v1"
	storev1 "satchel.dev/go/api/store/v1"
)

// recordingServer implements enough of the contracts to tell what a client sent.
type recordingServer struct {
	storev1.UnimplementedMemoryServiceServer
	indexv1.UnimplementedIndexServiceServer

	mutex    sync.Mutex
	failures int // calls yet to be answered with UNAVAILABLE
	calls    int
	left     time.Duration // until the deadline of the last call; 0 without one
	metadata metadata.MD
	requests []proto.Message
}

// serve runs a recording server until the test ends, and returns it with its address.
func serve(t *testing.T) (*recordingServer, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	recording, server := &recordingServer{}, grpc.NewServer()
	storev1.RegisterMemoryServiceServer(server, recording)
	indexv1.RegisterIndexServiceServer(server, recording)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	return recording, listener.Addr().String()
}

// dial opens a client that the end of the test closes.
func dial(t *testing.T, url string, options ...Option) *Client {
	t.Helper()
	client, err := Dial(url, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func (s *recordingServer) record(ctx context.Context, request proto.Message) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.calls++
	s.left = 0
	if deadline, has := ctx.Deadline(); has {
		s.left = time.Until(deadline)
	}
	s.metadata, _ = metadata.FromIncomingContext(ctx)
	s.requests = append(s.requests, request)
	if s.failures > 0 {
		s.failures--
		return status.Error(codes.Unavailable, "try again")
	}
	return nil
}

func (s *recordingServer) GetMemory(
	ctx context.Context, request *storev1.GetMemoryRequest,
) (*storev1.GetMemoryResponse, error) {
	return &storev1.GetMemoryResponse{}, s.record(ctx, request)
}

func (s *recordingServer) StoreMemory(
	ctx context.Context, request *storev1.StoreMemoryRequest,
) (*storev1.StoreMemoryResponse, error) {
	return &storev1.StoreMemoryResponse{}, s.record(ctx, request)
}

func (s *recordingServer) BatchStoreMemories(
	ctx context.Context, request *storev1.BatchStoreMemoriesRequest,
) (*storev1.BatchStoreMemoriesResponse, error) {
	return &storev1.BatchStoreMemoriesResponse{}, s.record(ctx, request)
}

func (s *recordingServer) SearchVectors(
	ctx context.Context, request *indexv1.SearchVectorsRequest,
) (*indexv1.SearchVectorsResponse, error) {
	return &indexv1.SearchVectorsResponse{}, s.record(ctx, request)
}

// ListMemories answers with three pages of one memory each.
func (s *recordingServer) ListMemories(
	ctx context.Context, request *storev1.ListMemoriesRequest,
) (*storev1.ListMemoriesResponse, error) {
	next := map[string]string{"": "second", "second": "third", "third": ""}[request.GetPageToken()]
	answer := &storev1.ListMemoriesResponse{NextPageToken: next}
	return answer, s.record(ctx, request)
}

func (s *recordingServer) ImportMemories(stream storev1.MemoryService_ImportMemoriesServer) error {
	for {
		request, err := stream.Recv()
		if err != nil {
			return nil // the client closed its side
		}
		if err := s.record(stream.Context(), request); err != nil {
			return err
		}
		if err := stream.Send(&storev1.ImportMemoriesResponse{Sequence: request.GetSequence()}); err != nil {
			return err
		}
	}
}

func (s *recordingServer) ExportMemories(
	request *storev1.ExportMemoriesRequest, stream storev1.MemoryService_ExportMemoriesServer,
) error {
	return s.record(stream.Context(), request)
}
