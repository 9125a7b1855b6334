package satchel

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	allocatorv1 "satchel.dev/go/api/allocator/v1"
	embedderv1 "satchel.dev/go/api/embedder/v1"
	indexv1 "satchel.dev/go/api/index/v1"
	storev1 "satchel.dev/go/api/store/v1"
	typesv1 "satchel.dev/go/api/types/v1"
)

// contracts are the files that hold services.
var contracts = []protoreflect.FileDescriptor{
	allocatorv1.File_satchel_api_allocator_v1_allocator_service_proto,
	embedderv1.File_satchel_api_embedder_v1_embedder_service_proto,
	indexv1.File_satchel_api_index_v1_index_service_proto,
	storev1.File_satchel_api_store_v1_change_service_proto,
	storev1.File_satchel_api_store_v1_memory_service_proto,
	storev1.File_satchel_api_store_v1_search_service_proto,
}

// methodName names one RPC as a service config does.
type methodName struct {
	Service string `json:"service"`
	Method  string `json:"method"`
}

// repeatable returns the RPCs whose repeat has no further effect, as the contracts say.
func repeatable() []methodName {
	names := []methodName{{"grpc.health.v1.Health", "Check"}}
	for _, file := range contracts {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				method := service.Methods().Get(j)
				options, ok := method.Options().(*descriptorpb.MethodOptions)
				if ok && options.GetIdempotencyLevel() != descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN {
					names = append(names, methodName{string(service.FullName()), string(method.Name())})
				}
			}
		}
	}
	return names
}

// serviceConfig returns balancing and retries as gRPC reads them.
//
// Unavailable may hide an answer that was lost on its way, so only calls whose repeat has no further
// effect are repeated. gRPC itself sends any call again that never left this process.
//
// Source: https://github.com/grpc/grpc/blob/master/doc/service_config.md.
var serviceConfig = sync.OnceValue(func() string {
	config := map[string]any{
		"loadBalancingConfig": []any{map[string]any{"round_robin": map[string]any{}}},
		"methodConfig": []any{map[string]any{
			"name": repeatable(),
			"retryPolicy": map[string]any{
				"maxAttempts":          3,
				"initialBackoff":       "0.1s",
				"maxBackoff":           "1s",
				"backoffMultiplier":    3,
				"retryableStatusCodes": []string{"UNAVAILABLE"},
			},
		}},
	}
	encoded, err := json.Marshal(config)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return string(encoded)
})

// interceptUnary gives a call its deadline and its project.
func (s *settings) interceptUnary(
	ctx context.Context, method string, request, response any, connection *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	if _, has := ctx.Deadline(); !has && s.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.timeout)
		defer cancel()
	}
	return invoke(ctx, method, inProject(request, s.project), response, connection, options...)
}

// interceptStream gives the requests of a stream their project.
func (s *settings) interceptStream(
	ctx context.Context, description *grpc.StreamDesc, connection *grpc.ClientConn, method string,
	open grpc.Streamer, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(ctx, description, connection, method, options...)
	if err != nil || s.project == "" {
		return stream, err
	}
	return &projectStream{stream, s.project}, nil
}

// projectStream is a stream whose requests get a project.
type projectStream struct {
	grpc.ClientStream
	project string
}

// SendMsg sends a request in the project.
func (p *projectStream) SendMsg(request any) error {
	return p.ClientStream.SendMsg(inProject(request, p.project))
}

// inProject returns a copy of the request that names the project wherever it names none; the
// request itself, which belongs to the caller, stays as it is.
func inProject(request any, project string) any {
	message, ok := request.(proto.Message)
	if !ok || project == "" {
		return request
	}
	copied := proto.Clone(message)
	fillProject(copied.ProtoReflect(), project)
	return copied
}

// fillProject sets the empty fields "project" of a message and of the messages in it. A filter that
// is absent is made, because without one a search looks into the default project.
func fillProject(message protoreflect.Message, project string) {
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		switch {
		case field.Name() == "project" && field.Kind() == protoreflect.StringKind:
			if !message.Has(field) && !wantsAllProjects(message) {
				message.Set(field, protoreflect.ValueOfString(project))
			}
		case field.Message() == nil || field.IsMap() || !isOurs(field.Message()):
		case field.IsList():
			list := message.Get(field).List()
			for j := range list.Len() {
				fillProject(list.Get(j).Message(), project)
			}
		case message.Has(field) || field.Message().FullName() == filterName:
			fillProject(message.Mutable(field).Message(), project)
		}
	}
}

// isOurs reports whether a message is one of Satchel's own, and not such as google.protobuf.Struct.
func isOurs(message protoreflect.MessageDescriptor) bool {
	return strings.HasPrefix(string(message.FullName()), "satchel.api.")
}

// filterName is the name of the message in which a search names its project.
var filterName = (*typesv1.MemoryFilter)(nil).ProtoReflect().Descriptor().FullName()

// wantsAllProjects reports whether a request says itself that it is about all projects.
func wantsAllProjects(message protoreflect.Message) bool {
	field := message.Descriptor().Fields().ByName("all_projects")
	return field != nil && message.Get(field).Bool()
}
