// Command scenario runs clients/scenario.json against a Satchel and prints what came back as JSON.
//
//	scenario --url HOST:PORT --project NAME PATH_OF_SCENARIO
//	scenario --url HOST:PORT --project NAME --bench SECONDS
//
// It ends with code 0 only when all steps ran; stdout holds nothing but the JSON.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	satchel "satchel.dev/go"
)

// limit bounds a run of the scenario, so that a stream that never answers ends it.
const limit = 2 * time.Minute

func main() {
	url := flag.String("url", "", "`address` of Satchel: host:port, or service=host:port,...")
	project := flag.String("project", "", "`name` of the project to work in")
	seconds := flag.Float64("bench", 0, "measure each call for so many `seconds` instead")
	flag.Parse()
	if err := run(*url, *project, *seconds, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "scenario:", err)
		os.Exit(1)
	}
}

func run(url, project string, seconds float64, path string) error {
	client, err := satchel.Dial(url, satchel.WithProject(project))
	if err != nil {
		return err
	}
	defer client.Close()
	var result any
	if seconds > 0 {
		result, err = bench(context.Background(), client, time.Duration(seconds*float64(time.Second)))
	} else {
		result, err = play(client, path)
	}
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(result)
}

// play runs the steps of the scenario in order.
func play(client *satchel.Client, path string) (object, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var described scenario
	if err := json.Unmarshal(text, &described); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return (&runner{client: client, wing: described.Wing}).run(ctx, described.Steps)
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	buffer.WriteByte('{')
	for i, each := range o {
		if i > 0 {
			buffer.WriteByte(',')
		}
		if err := encoder.Encode(each.name); err != nil {
			return nil, err
		}
		buffer.WriteByte(':')
		if err := encoder.Encode(each.value); err != nil {
			return nil, err
		}
	}
	buffer.WriteByte('}')
	return buffer.Bytes(), nil
}
