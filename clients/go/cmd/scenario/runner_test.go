package main

import (
	"encoding/json"
	"testing"
)

func TestNumbersAreRoundedAndZeroHasNoSign(t *testing.T) {
	for number, want := range map[float64]string{
		0.014: "0.01", -0.026: "-0.03", -0.004: "0.00", 0: "0.00", 1: "1.00",
	} {
		if got := fixed(number, 2); got != want {
			t.Errorf("%v gives %s, want %s", number, got, want)
		}
	}
}

func TestAnObjectKeepsTheOrderOfItsMembers(t *testing.T) {
	got, err := json.Marshal(object{{"b", 1}, {"a", object{{"text", "é"}}}, {"none", (*string)(nil)}})

	if want := `{"b":1,"a":{"text":"é"},"none":null}`; err != nil || string(got) != want {
		t.Errorf("got %s and error %v, want %s", got, err, want)
	}
}

func TestARandomUUIDIsOne(t *testing.T) {
	if got := newUUID(); !uuidForm.MatchString(got) || got[14] != '4' || got == newUUID() {
		t.Errorf("%s is no random UUID of version 4", got)
	}
}
