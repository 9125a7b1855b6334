package satchel

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	embedderv1 "satchel.dev/go/api/embedder/v1"
	indexv1 "satchel.dev/go/api/index/v1"
	storev1 "satchel.dev/go/api/store/v1"
	typesv1 "satchel.dev/go/api/types/v1"
)

func TestACallWithoutADeadlineGetsTheDefaultOne(t *testing.T) {
	server, address := serve(t)

	_, err := dial(t, address).Memories.GetMemory(t.Context(), &storev1.GetMemoryRequest{})

	if err != nil || server.left <= 0 || server.left > DefaultTimeout {
		t.Errorf("%v was left, want at most %v; error %v", server.left, DefaultTimeout, err)
	}
}

func TestTheDeadlineOfTheContextWins(t *testing.T) {
	server, address := serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()

	_, err := dial(t, address).Memories.GetMemory(ctx, &storev1.GetMemoryRequest{})

	if err != nil || server.left <= DefaultTimeout {
		t.Errorf("%v was left, want nearly an hour; error %v", server.left, err)
	}
}

func TestATimeoutOfZeroSetsNoDeadline(t *testing.T) {
	server, address := serve(t)

	_, err := dial(t, address, WithTimeout(0)).Memories.GetMemory(t.Context(), &storev1.GetMemoryRequest{})

	if err != nil || server.left != 0 {
		t.Errorf("%v was left, want no deadline; error %v", server.left, err)
	}
}

func TestAReadIsTriedAgainWhileTheServerIsUnavailable(t *testing.T) {
	server, address := serve(t)
	server.failures = 2

	_, err := dial(t, address).Memories.GetMemory(t.Context(), &storev1.GetMemoryRequest{})

	if err != nil || server.calls != 3 {
		t.Errorf("got %d calls and error %v, want 3 and none", server.calls, err)
	}
}

func TestAWriteThatReachedTheServerIsNotTriedAgain(t *testing.T) {
	server, address := serve(t)
	server.failures = 1

	_, err := dial(t, address).Memories.StoreMemory(t.Context(), &storev1.StoreMemoryRequest{})

	if status.Code(err) != codes.Unavailable || server.calls != 1 {
		t.Errorf("got %d calls and error %v, want 1 and UNAVAILABLE", server.calls, err)
	}
}

func TestTheKeyGoesWithEveryCall(t *testing.T) {
	server, address := serve(t)

	_, err := dial(t, address, WithAPIKey("sk_1")).Memories.GetMemory(t.Context(), &storev1.GetMemoryRequest{})

	if got := server.metadata.Get("authorization"); err != nil || len(got) != 1 || got[0] != "Bearer sk_1" {
		t.Errorf("authorization is %v, want one Bearer sk_1; error %v", got, err)
	}
}

func TestAKeyIsNotSentInTheClearToAnotherMachine(t *testing.T) {
	client, err := Dial("memory.example.com:50051", WithAPIKey("sk_1"))

	if err == nil || client != nil {
		t.Errorf("got client %v, want an error", client)
	}
}

func TestAKeyMayGoToAnotherMachineOverTLS(t *testing.T) {
	dial(t, "memory.example.com:50051", WithAPIKey("sk_1"), WithTransportCredentials(credentials.NewTLS(nil)))
}

func TestTheProjectFillsRequestsThatNameNone(t *testing.T) {
	server, address := serve(t)
	client := dial(t, address, WithProject("ours"))
	filled := &typesv1.MemoryFilter{Project: "ours"}
	named := &storev1.StoreMemoryRequest{Project: "theirs"}
	batch := &storev1.BatchStoreMemoriesRequest{Memories: []*storev1.StoreMemoryRequest{{}, named}}

	_, err := client.Memories.BatchStoreMemories(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Index.SearchVectors(t.Context(), &indexv1.SearchVectorsRequest{}); err != nil {
		t.Fatal(err)
	}

	expect(t, server.requests,
		&storev1.BatchStoreMemoriesRequest{Memories: []*storev1.StoreMemoryRequest{{Project: "ours"}, named}},
		&indexv1.SearchVectorsRequest{Filter: filled})
	if batch.Memories[0].Project != "" {
		t.Error("the caller's own request was changed")
	}
}

func TestTheProjectFillsTheRequestsOfAStream(t *testing.T) {
	server, address := serve(t)
	stream, err := dial(t, address, WithProject("ours")).Memories.ImportMemories(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	record := &storev1.ImportMemoriesRequest_NewMemory{NewMemory: &storev1.StoreMemoryRequest{}}

	if err := stream.Send(&storev1.ImportMemoriesRequest{Sequence: 7, Record: record}); err != nil {
		t.Fatal(err)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	var answered []int64
	for answer, err := range Receive(stream) {
		if err != nil {
			t.Fatal(err)
		}
		answered = append(answered, answer.GetSequence())
	}

	if len(answered) != 1 || answered[0] != 7 {
		t.Errorf("the answers are %v, want 7 alone", answered)
	}
	record.NewMemory.Project = "ours"
	expect(t, server.requests, &storev1.ImportMemoriesRequest{Sequence: 7, Record: record})
}

func TestARequestForAllProjectsStaysOne(t *testing.T) {
	server, address := serve(t)
	request := &storev1.ExportMemoriesRequest{AllProjects: true}
	stream, err := dial(t, address, WithProject("ours")).Memories.ExportMemories(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}

	for _, err := range Receive(stream) {
		t.Fatal(err)
	}

	expect(t, server.requests, request)
}

func TestPagesAreReadToTheEnd(t *testing.T) {
	server, address := serve(t)
	request := &storev1.ListMemoriesRequest{Wing: "billing"}

	pages := 0
	for _, err := range dial(t, address).Pages(t.Context(), request) {
		if err != nil {
			t.Fatal(err)
		}
		pages++
	}

	if pages != 3 || request.PageToken != "" {
		t.Errorf("got %d pages and left the token %q, want 3 and none", pages, request.PageToken)
	}
	expect(t, server.requests,
		&storev1.ListMemoriesRequest{Wing: "billing"},
		&storev1.ListMemoriesRequest{Wing: "billing", PageToken: "second"},
		&storev1.ListMemoriesRequest{Wing: "billing", PageToken: "third"})
}

func TestAListThatFailsEndsWithItsError(t *testing.T) {
	server, address := serve(t)
	server.failures = 100

	var failures []error
	for _, err := range dial(t, address).List(t.Context(), &storev1.ListMemoriesRequest{}) {
		failures = append(failures, err)
	}

	if len(failures) != 1 || status.Code(failures[0]) != codes.Unavailable {
		t.Errorf("got %v, want UNAVAILABLE once", failures)
	}
}

func TestAServiceThatTheURLLeavesOutSaysSo(t *testing.T) {
	_, address := serve(t)

	_, err := dial(t, "store="+address).Embedder.ListModels(t.Context(), &embedderv1.ListModelsRequest{})

	if err == nil || !strings.Contains(err.Error(), "embedder=host:port") {
		t.Errorf("got %v, want an error that names the embedder", err)
	}
}

// expect compares messages that a server received with the ones it should have.
func expect(t *testing.T, got []proto.Message, want ...proto.Message) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d requests, want %d", len(got), len(want))
	}
	for i := range want {
		if !proto.Equal(got[i], want[i]) {
			t.Errorf("request %d is %v, want %v", i, got[i], want[i])
		}
	}
}
