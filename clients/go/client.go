// Package satchel opens a Satchel, the long-term memory of language-model agents, from Go.
//
// [Dial] returns a [Client] that holds the generated stubs of every service. The packages below
// satchel.dev/go/api are generated from the contracts; their comments say what each field means, in
// which unit and range, and which errors a call gives. This package adds what the contracts leave to
// a client: a deadline, retries, credentials, the decoding of errors and vectors, and iteration.
package satchel

import (
	"errors"
	"fmt"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	allocatorv1 "satchel.dev/go/api/allocator/v1"
	embedderv1 "satchel.dev/go/api/embedder/v1"
	indexv1 "satchel.dev/go/api/index/v1"
	storev1 "satchel.dev/go/api/store/v1"
)

// Client calls the services of one Satchel. It is safe for concurrent use.
type Client struct {
	// Memories stores, reads, lists, changes and deletes memories.
	Memories storev1.MemoryServiceClient
	// Changes is the change feed of the store.
	Changes storev1.ChangeServiceClient
	// Search finds memories by words, or by comparing with every vector.
	Search storev1.SearchServiceClient
	// Allocator recalls memories under a budget, and searches by words and meaning.
	Allocator allocatorv1.AllocatorServiceClient
	// Embedder turns texts into vectors.
	Embedder embedderv1.EmbedderServiceClient
	// Index finds the memories nearest to a vector.
	Index indexv1.IndexServiceClient
	// Health tells the health of the process that runs the store.
	Health healthv1.HealthClient

	connections []*grpc.ClientConn
}

// Dial returns a client of the Satchel at url; the caller closes it.
//
// The url is host:port of a Satchel that runs everything in one process, or a list of services that
// run apart, such as store=host:50063,allocator=host:50064,embedder=host:50061,index=host:50062. An
// empty url means the environment variable SATCHEL_URL and, without that, [DefaultURL].
//
// Dial connects to nothing yet: the first call does. An error means that the url or the options
// cannot be used.
func Dial(url string, options ...Option) (*Client, error) {
	addresses, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	chosen := settings{timeout: DefaultTimeout}
	for _, option := range options {
		option(&chosen)
	}
	client := &Client{}
	channels, err := client.connect(addresses, &chosen)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("satchel: %w", err), client.Close())
	}
	client.Memories = storev1.NewMemoryServiceClient(channels["store"])
	client.Changes = storev1.NewChangeServiceClient(channels["store"])
	client.Search = storev1.NewSearchServiceClient(channels["store"])
	client.Health = healthv1.NewHealthClient(channels["store"])
	client.Allocator = allocatorv1.NewAllocatorServiceClient(channels["allocator"])
	client.Embedder = embedderv1.NewEmbedderServiceClient(channels["embedder"])
	client.Index = indexv1.NewIndexServiceClient(channels["index"])
	return client, nil
}

// connect opens one connection to each address, and returns that of each service.
func (c *Client) connect(
	addresses map[string]string, chosen *settings,
) (map[string]grpc.ClientConnInterface, error) {
	opened := make(map[string]*grpc.ClientConn)
	channels := make(map[string]grpc.ClientConnInterface)
	for _, service := range services {
		address, named := addresses[service]
		if !named {
			channels[service] = unnamed(service)
			continue
		}
		if opened[address] == nil {
			connection, err := grpc.NewClient(address, chosen.dialOptions(address)...)
			if err != nil {
				return nil, err
			}
			opened[address] = connection
			c.connections = append(c.connections, connection)
		}
		channels[service] = opened[address]
	}
	return channels, nil
}

// Close closes the connections. Calls that still run end with the code Canceled.
func (c *Client) Close() error {
	var failures []error
	for _, connection := range c.connections {
		failures = append(failures, connection.Close())
	}
	return errors.Join(failures...)
}
