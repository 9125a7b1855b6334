package satchel

import (
	"maps"
	"testing"
)

func TestAURLNamesTheAddressOfEachService(t *testing.T) {
	everywhere := func(address string) map[string]string {
		return map[string]string{"store": address, "allocator": address, "embedder": address, "index": address}
	}
	for url, want := range map[string]map[string]string{
		"":                       everywhere(DefaultURL),
		"localhost:1":            everywhere("localhost:1"),
		"grpc://localhost:1/":    everywhere("localhost:1"),
		"unix:/run/satchel.sock": everywhere("unix:/run/satchel.sock"),
		"store=a:1, allocator=b:2,embedder=c:3,index=d:4": {
			"store": "a:1", "allocator": "b:2", "embedder": "c:3", "index": "d:4",
		},
		"store=a:1": {"store": "a:1"},
	} {
		t.Run(url, func(t *testing.T) {
			t.Setenv("SATCHEL_URL", "")

			got, err := parseURL(url)

			if err != nil || !maps.Equal(got, want) {
				t.Errorf("got %v and error %v, want %v", got, err, want)
			}
		})
	}
}

func TestAnEmptyURLIsTakenFromTheEnvironment(t *testing.T) {
	t.Setenv("SATCHEL_URL", "localhost:7")

	got, err := parseURL("")

	if err != nil || got["store"] != "localhost:7" {
		t.Errorf("got %v and error %v, want localhost:7", got, err)
	}
}

func TestAURLThatCannotBeReadIsRefused(t *testing.T) {
	for _, url := range []string{"store=", "shop=a:1", "store=a:1,b:2", "store=a:1,"} {
		if got, err := parseURL(url); err == nil {
			t.Errorf("%q gives %v, want an error", url, got)
		}
	}
}

func TestOnlyLoopbackAndSocketsAreLocal(t *testing.T) {
	for target, want := range map[string]bool{
		"127.0.0.1:50051":          true,
		"dns:///localhost:50051":   true,
		"[::1]:50051":              true,
		"unix:/run/satchel.sock":   true,
		"10.0.0.1:50051":           false,
		"memory.example.com:50051": false,
		"localhost.example.com:1":  false,
		"no-port":                  false,
	} {
		if got := isLocal(target); got != want {
			t.Errorf("isLocal(%q) is %t, want %t", target, got, want)
		}
	}
}
