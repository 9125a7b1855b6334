package satchel

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// DefaultURL is where a Satchel listens that was started with "satchel up".
const DefaultURL = "127.0.0.1:50051"

// services are the names that a url of services apart may hold.
var services = []string{"store", "allocator", "embedder", "index"}

// parseURL returns the gRPC target of each service that the url names.
func parseURL(url string) (map[string]string, error) {
	if url == "" {
		url = os.Getenv("SATCHEL_URL")
	}
	if url == "" {
		url = DefaultURL
	}
	addresses := make(map[string]string, len(services))
	if !strings.Contains(url, "=") {
		target := strings.TrimRight(strings.TrimPrefix(url, "grpc://"), "/")
		for _, service := range services {
			addresses[service] = target
		}
		return addresses, nil
	}
	for part := range strings.SplitSeq(url, ",") {
		name, target, _ := strings.Cut(part, "=")
		name, target = strings.TrimSpace(name), strings.TrimSpace(target)
		if !slices.Contains(services, name) || target == "" {
			return nil, fmt.Errorf(
				"satchel: the url has the part %q; give host:port, or service=host:port for %s",
				part, strings.Join(services, ", "))
		}
		addresses[name] = target
	}
	return addresses, nil
}

// isLocal reports whether a target never leaves this machine.
func isLocal(target string) bool {
	if strings.HasPrefix(target, "unix:") {
		return true
	}
	host, _, err := net.SplitHostPort(target[strings.LastIndex(target, "/")+1:])
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

// unnamed stands for a service that the url leaves out: calls fail and say so.
type unnamed string

func (u unnamed) failure() error {
	return status.Errorf(codes.FailedPrecondition, "the url names no %[1]s; add %[1]s=host:port", string(u))
}

// Invoke fails.
func (u unnamed) Invoke(context.Context, string, any, any, ...grpc.CallOption) error {
	return u.failure()
}

// NewStream fails.
func (u unnamed) NewStream(
	context.Context, *grpc.StreamDesc, string, ...grpc.CallOption,
) (grpc.ClientStream, error) {
	return nil, u.failure()
}
