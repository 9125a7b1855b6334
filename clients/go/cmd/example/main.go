// Command example stores a memory and recalls it under a budget.
package main

import (
	"context"
	"fmt"
	"log"

	satchel "satchel.dev/go"
	allocatorv1 "satchel.dev/go/api/allocator/v1"
	storev1 "satchel.dev/go/api/store/v1"
)

func main() {
	client, err := satchel.Dial("") // SATCHEL_URL, or else 127.0.0.1:50051
	if err != nil {
		log.Fatal(err)
	}
	if err := remember(context.Background(), client); err != nil {
		log.Fatal(err)
	}
}

func remember(ctx context.Context, client *satchel.Client) error {
	stored, err := client.Memories.StoreMemory(ctx, &storev1.StoreMemoryRequest{
		Wing:    "billing",
		Content: "We chose PostgreSQL over MySQL because the ledger needs ACID.",
	})
	if err != nil {
		return err
	}
	answer, err := client.Allocator.Recall(ctx, &allocatorv1.RecallRequest{
		Wing:        "billing",
		Query:       "Which database does the ledger use, and why?",
		Budget:      500,
		MinRevision: stored.GetRevision(), // read your own write
	})
	if err != nil {
		return err
	}
	fmt.Println(answer.GetContext())
	fmt.Println(answer.GetTotalTokens(), "tokens")
	return nil
}
