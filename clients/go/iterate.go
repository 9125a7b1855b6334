package satchel

import (
	"context"
	"errors"
	"io"
	"iter"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	storev1 "satchel.dev/go/api/store/v1"
	typesv1 "satchel.dev/go/api/types/v1"
)

// Pages lists memories page by page, from the request's page token to the end. A failed call ends
// the iteration with its error; the timeout of [WithTimeout] holds for each page.
func (c *Client) Pages(
	ctx context.Context, request *storev1.ListMemoriesRequest,
) iter.Seq2[*storev1.ListMemoriesResponse, error] {
	return func(yield func(*storev1.ListMemoriesResponse, error) bool) {
		next := proto.CloneOf(request)
		for {
			page, err := c.Memories.ListMemories(ctx, next)
			if !yield(page, err) || err != nil || page.GetNextPageToken() == "" {
				return
			}
			next.PageToken = page.GetNextPageToken()
		}
	}
}

// List lists memories to the end, and asks for pages as it goes. A failed call ends the iteration
// with a nil memory and its error.
func (c *Client) List(
	ctx context.Context, request *storev1.ListMemoriesRequest,
) iter.Seq2[*typesv1.Memory, error] {
	return func(yield func(*typesv1.Memory, error) bool) {
		for page, err := range c.Pages(ctx, request) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, memory := range page.GetMemories() {
				if !yield(memory, nil) {
					return
				}
			}
		}
	}
}

// Receive iterates over the responses of a stream, such as that of ExportMemories or WatchChanges. A
// stream that fails ends the iteration with a nil response and its error. Leaving the loop early
// does not end the stream: cancel its context.
func Receive[Response any](stream receiver[Response]) iter.Seq2[*Response, error] {
	return func(yield func(*Response, error) bool) {
		for {
			response, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(response, err) || err != nil {
				return
			}
		}
	}
}

// receiver is the receiving side of a stream, of one direction or of two.
type receiver[Response any] interface {
	Recv() (*Response, error)
	grpc.ClientStream
}
