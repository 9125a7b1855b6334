package satchel

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

const (
	// DefaultTimeout is how long a unary call may take whose context has no deadline.
	DefaultTimeout = 10 * time.Second
	// MaxMessageBytes is the size of the largest message that Satchel sends or takes.
	MaxMessageBytes = 64 << 20
)

// Option changes how [Dial] opens a client.
type Option func(*settings)

// settings are what the options of one Dial add up to.
type settings struct {
	apiKey    string
	project   string
	timeout   time.Duration
	transport credentials.TransportCredentials
	added     []grpc.DialOption
}

// WithAPIKey sends the key with every call. [Dial] refuses to send one over a connection that leaves
// this machine in the clear; see [WithTransportCredentials].
func WithAPIKey(key string) Option { return func(s *settings) { s.apiKey = key } }

// WithProject works in a project: it is sent with every request that leaves its project empty, also
// where an empty one would mean all projects. A request that says all_projects keeps its meaning.
func WithProject(name string) Option { return func(s *settings) { s.project = name } }

// WithTimeout bounds unary calls whose context has no deadline, in place of [DefaultTimeout]. 0 or
// less means no bound. Streams are bounded by their context alone.
func WithTimeout(timeout time.Duration) Option { return func(s *settings) { s.timeout = timeout } }

// WithTransportCredentials secures the connections, as credentials.NewTLS does. Without it they are
// in the clear.
func WithTransportCredentials(transport credentials.TransportCredentials) Option {
	return func(s *settings) { s.transport = transport }
}

// WithDialOptions adds options of gRPC, such as interceptors or the handlers of OpenTelemetry. They
// come after those of this package, and win over them.
func WithDialOptions(options ...grpc.DialOption) Option {
	return func(s *settings) { s.added = append(s.added, options...) }
}

// dialOptions returns what a connection to the address needs.
func (s *settings) dialOptions(address string) []grpc.DialOption {
	transport := s.transport
	if transport == nil {
		transport = insecure.NewCredentials()
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithDefaultServiceConfig(serviceConfig()),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(MaxMessageBytes), grpc.MaxCallSendMsgSize(MaxMessageBytes)),
		grpc.WithChainUnaryInterceptor(s.interceptUnary),
		grpc.WithChainStreamInterceptor(s.interceptStream),
		// A server that vanished without a word is noticed after at most 40 s, also on an idle feed.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
	}
	if s.apiKey != "" {
		key := bearer{key: s.apiKey, inTheClear: isLocal(address)}
		options = append(options, grpc.WithPerRPCCredentials(key))
	}
	return append(options, s.added...)
}

// bearer sends an API key as the metadata "authorization".
type bearer struct {
	key        string
	inTheClear bool
}

// GetRequestMetadata returns the metadata that carries the key.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.key}, nil
}

// RequireTransportSecurity reports whether the key may only travel over TLS.
func (b bearer) RequireTransportSecurity() bool { return !b.inTheClear }
