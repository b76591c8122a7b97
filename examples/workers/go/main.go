// Command search-worker finds nearest neighbours: a worker for the task types search and sleep.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

type document struct {
	ID     string    `json:"id"`
	Vector []float64 `json:"vector"`
}

type hit struct {
	ID    string  `json:"id"`
	Score float64 `json:"score"`
}

// search: {query: [number], documents: [{id, vector}], limit} -> {hits: [{id, score}]}, by cosine, best first.
func search(ctx context.Context, task Task) (any, error) {
	var query []float64
	var documents []document
	limit := 10
	if err := errors.Join(task.Decode("query", &query), task.Decode("documents", &documents)); err != nil {
		return nil, Fatal{err}
	}
	if _, given := task.params["limit"]; given {
		if err := task.Decode("limit", &limit); err != nil {
			return nil, err
		}
	}
	hits := []hit{}
	for _, each := range documents {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(each.Vector) != len(query) {
			return nil, Fatal{fmt.Errorf("Expected vectors of %d numbers as the query has, but '%s' has %d.",
				len(query), each.ID, len(each.Vector))}
		}
		hits = append(hits, hit{each.ID, cosine(query, each.Vector)})
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return map[string]any{"hits": hits[:min(max(0, limit), len(hits))]}, nil
}

// sleep: {ms} -> {sleptMs}
func sleep(ctx context.Context, task Task) (any, error) {
	var ms int64
	if err := task.Decode("ms", &ms); err != nil {
		return nil, err
	}
	if ms < 0 {
		return nil, Fatal{fmt.Errorf("Expected 'ms' to be 0 or more, but got %d.", ms)}
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(time.Duration(ms) * time.Millisecond):
		return map[string]any{"sleptMs": ms}, nil
	}
}

func cosine(a, b []float64) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot, aa, bb = dot+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

func main() {
	schedulers := flag.String("scheduler", "", "host:port of scheduler nodes, with commas between")
	id := flag.String("id", "go-1", "the worker's id")
	slots := flag.Int("slots", 4, "tasks that it runs at once")
	flag.Parse()
	if *schedulers == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "search-worker: expected --scheduler host:port and nothing after the options")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	worker := &Worker{
		ID: *id, Handlers: map[string]Handler{"search": search, "sleep": sleep}, Slots: *slots, Known: strings.Split(*schedulers, ",")}
	if err := worker.Run(ctx); err != nil {
		log.Fatalf("search-worker: %v", err)
	}
}
