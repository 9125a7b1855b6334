package main

import (
	"context"
	"slices"
	"time"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	satchel "satchel.dev/go"
	storev1 "satchel.dev/go/api/store/v1"
)

func (r *runner) health(ctx context.Context, s step) (any, error) {
	request, err := decode(s.Request, &healthv1.HealthCheckRequest{})
	if err != nil {
		return nil, err
	}
	answer, err := r.client.Health.Check(ctx, request)
	return object{{"status", answer.GetStatus().String()}}, err
}

func (r *runner) storeThree(ctx context.Context, s step) (any, error) {
	var printed []object
	for _, text := range s.Requests {
		request, err := decode(text, &storev1.StoreMemoryRequest{Wing: r.wing})
		if err != nil {
			return nil, err
		}
		answer, err := r.client.Memories.StoreMemory(ctx, request)
		if err != nil {
			return nil, err
		}
		r.three = append(r.three, stored{answer.GetId(), request.GetContent()})
		r.revision = answer.GetRevision()
		printed = append(printed, object{
			{"type", answer.GetType().String()},
			{"room", answer.GetRoom()},
			{"duplicate", answer.GetDuplicate()},
			{"embedding", answer.GetEmbedding().String()},
			{"token_count", answer.GetTokenCount()},
			{"is_uuid", uuidForm.MatchString(answer.GetId())},
		})
	}
	return printed, nil
}

func (r *runner) storeByStream(ctx context.Context, s step) (any, error) {
	stream, err := r.client.Memories.ImportMemories(ctx)
	if err != nil {
		return nil, err
	}
	for i, text := range s.Requests {
		memory, err := decode(text, &storev1.StoreMemoryRequest{Wing: r.wing})
		if err != nil {
			return nil, err
		}
		record := &storev1.ImportMemoriesRequest_NewMemory{NewMemory: memory}
		request := &storev1.ImportMemoriesRequest{Sequence: int64(i) + 1, Record: record}
		if err := stream.Send(request); err != nil {
			return nil, err
		}
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	var printed []object
	for answer, err := range satchel.Receive(stream) {
		if err != nil {
			return nil, err
		}
		failure := satchel.FailureOfStatus(answer.GetError())
		var code *string
		if answer.GetError() != nil {
			name := codeName(failure)
			code = &name
		}
		r.revision = max(r.revision, answer.GetStored().GetRevision())
		printed = append(printed, object{
			{"sequence", answer.GetSequence()},
			{"stored", answer.GetStored() != nil},
			{"code", code},
			{"reason", orNull(failure, failure.Reason)},
			{"field", metadatum(failure, "field")},
		})
	}
	return printed, nil
}

func (r *runner) sameRequestID(ctx context.Context, s step) (any, error) {
	request := &storev1.StoreMemoryRequest{Wing: r.wing, Content: s.Content, RequestId: newUUID()}
	first, err := r.client.Memories.StoreMemory(ctx, request)
	if err != nil {
		return nil, err
	}
	second, err := r.client.Memories.StoreMemory(ctx, request)
	if err != nil {
		return nil, err
	}
	r.revision = first.GetRevision()
	request.Content = s.OtherContent
	_, err = r.client.Memories.StoreMemory(ctx, request)
	failure, err := failed(err)
	return object{
		{"same_id", first.GetId() == second.GetId()},
		{"code", codeName(failure)},
		{"reason", orNull(failure, failure.Reason)},
		{"request_id_named", failure.Metadata["request_id"] == request.GetRequestId()},
	}, err
}

func (r *runner) list(ctx context.Context, s step) (any, error) {
	request := &storev1.ListMemoriesRequest{Wing: r.wing, PageSize: s.PageSize}
	var (
		pages    []int
		contents []string
		token    string
		ids      = make(map[string]bool)
	)
	for page, err := range r.client.Pages(ctx, request) {
		if err != nil {
			return nil, err
		}
		if len(pages) == 0 {
			token = page.GetNextPageToken()
		}
		pages = append(pages, len(page.GetMemories()))
		for _, memory := range page.GetMemories() {
			ids[memory.GetId()] = true
			contents = append(contents, memory.GetContent())
		}
	}
	slices.Sort(contents) // by bytes, which in UTF-8 is by code point
	request.PageToken, request.PageSize = token, s.OtherPageSize
	_, err := r.client.Memories.ListMemories(ctx, request)
	failure, err := failed(err)
	return object{
		{"pages", pages},
		{"contents", contents},
		{"unique", len(ids) == len(contents)},
		{"code", codeName(failure)},
		{"reason", orNull(failure, failure.Reason)},
		{"field", metadatum(failure, "field")},
	}, err
}

func (r *runner) watch(ctx context.Context, _ step) (any, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := r.client.Changes.WatchChanges(ctx, &storev1.WatchChangesRequest{AfterRevision: r.revision})
	if err != nil {
		return nil, err
	}
	opening, err := stream.Recv()
	if err != nil {
		return nil, err
	}
	id := r.three[1].id
	deleted, err := r.client.Memories.DeleteMemory(context.WithoutCancel(ctx), &storev1.DeleteMemoryRequest{Id: id})
	if err != nil {
		return nil, err
	}
	change, err := nextChange(stream)
	if err != nil {
		return nil, err
	}
	cancel()
	failure, err := failed(drain(stream))
	return object{
		{"first_is_empty", len(opening.GetChanges()) == 0},
		{"kind", change.GetKind().String()},
		{"is_the_memory", change.GetMemoryId() == id},
		{"revision_agrees", change.GetRevision() == deleted.GetRevision()},
		{"code", codeName(failure)},
	}, err
}

// nextChange reads until a response holds a change, and returns the first one of it.
func nextChange(stream storev1.ChangeService_WatchChangesClient) (*storev1.Change, error) {
	for {
		response, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		if changes := response.GetChanges(); len(changes) > 0 {
			return changes[0], nil
		}
	}
}

// drain reads a feed to its end and returns why it ended; nil when the server closed it.
func drain(stream storev1.ChangeService_WatchChangesClient) error {
	for _, err := range satchel.Receive(stream) {
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) invalidArgument(ctx context.Context, s step) (any, error) {
	request, err := decode(s.Request, &storev1.StoreMemoryRequest{})
	if err != nil {
		return nil, err
	}
	_, err = r.client.Memories.StoreMemory(ctx, request)
	return whole(err)
}

func (r *runner) missingMemory(ctx context.Context, s step) (any, error) {
	request, err := decode(s.Request, &storev1.GetMemoryRequest{})
	if err != nil {
		return nil, err
	}
	_, err = r.client.Memories.GetMemory(ctx, request)
	return whole(err)
}

// whole prints everything that the error of a call says to a program.
func whole(err error) (any, error) {
	failure, err := failed(err)
	return object{
		{"code", codeName(failure)},
		{"reason", orNull(failure, failure.Reason)},
		{"domain", orNull(failure, failure.Domain)},
		{"metadata", failure.Metadata},
	}, err
}

func (r *runner) deadline(ctx context.Context, s step) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(s.DeadlineMS)*time.Millisecond)
	defer cancel()
	stream, err := r.client.Changes.WatchChanges(ctx, &storev1.WatchChangesRequest{AfterRevision: r.revision})
	if err != nil {
		return nil, err
	}
	failure, err := failed(drain(stream))
	return object{
		{"code", codeName(failure)},
		{"reason", orNull(failure, failure.Reason)},
		{"domain", orNull(failure, failure.Domain)},
	}, err
}
