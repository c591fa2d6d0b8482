package engine

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/google/uuid"

	"weftline/engine/seal"
)

// ringOf makes keys of one repeated byte each.
func ringOf(t *testing.T, keys ...byte) *seal.Ring {
	t.Helper()
	var bits [][]byte
	for _, n := range keys {
		bits = append(bits, bytes.Repeat([]byte{n}, seal.KeySize))
	}
	ring, err := seal.NewRing(bits...)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func newVault(t *testing.T, keys ...byte) (*Vault, Who) {
	t.Helper()
	identity, admin := newIdentity(t)
	return NewVault(identity.db, ringOf(t, keys...)), admin
}

func TestSecretsAreSealedAndOpenedForWorkersOnly(t *testing.T) {
	vault, admin := newVault(t, 1)
	ctx := t.Context()
	for name, value := range map[string]string{"BANK": "s3cr3t-1", "SHOP": "s3cr3t-2"} {
		if err := vault.PutSecret(ctx, admin, SecretChange{Name: name, Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	if err := vault.PutSecret(ctx, admin, SecretChange{Name: "BANK", Value: "s3cr3t-3"}); err != nil {
		t.Fatal(err)
	}
	values, err := vault.valuesFor(ctx, admin.Team, "pay", []string{"BANK", "NONE"})
	if err != nil || !reflect.DeepEqual(values, map[string]string{"BANK": "s3cr3t-3"}) {
		t.Errorf("values %v, %v", values, err)
	}
	if values, err := vault.valuesFor(ctx, uuid.New(), "pay", []string{"BANK"}); err != nil || len(values) != 0 {
		t.Errorf("another team gets %v, %v", values, err)
	}
	page, err := vault.Secrets(ctx, admin, PageRequest{Limit: 1})
	if err != nil || len(page.Items) != 1 || page.Items[0].Name != "BANK" || page.NextCursor == nil {
		t.Errorf("list %+v, %v", page, err)
	}
	var dump string
	const everything = `select string_agg(s::text || encode(s.sealed, 'escape'), ' ') || (select string_agg(a::text, ' ') from audit a) from secrets s`
	if err := vault.db.QueryRow(ctx, everything).Scan(&dump); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(dump, "BANK") || strings.Contains(dump, "s3cr3t") {
		t.Errorf("the rows hold a value or miss a name: %s", dump)
	}
	if err := vault.DeleteSecret(ctx, admin, "BANK"); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, vault.DeleteSecret(ctx, admin, "BANK"), "not_found")
}

func TestSealedValueOpensInItsPlaceOnly(t *testing.T) {
	vault, admin := newVault(t, 1)
	if err := vault.PutSecret(t.Context(), admin, SecretChange{Name: "BANK", Value: "s3cr3t-1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := vault.db.Exec(t.Context(), "update secrets set name = 'SHOP'"); err != nil {
		t.Fatal(err)
	}
	if values, err := vault.valuesFor(t.Context(), admin.Team, "pay", []string{"SHOP"}); err == nil {
		t.Errorf("a moved value opened: %v", values)
	}
}

func TestKeysRotate(t *testing.T) {
	old, admin := newVault(t, 1)
	ctx := t.Context()
	if err := old.PutSecret(ctx, admin, SecretChange{Name: "BANK", Value: "s3cr3t-1"}); err != nil {
		t.Fatal(err)
	}
	both := NewVault(old.db, ringOf(t, 2, 1))
	if values, err := both.valuesFor(ctx, admin.Team, "pay", []string{"BANK"}); err != nil || values["BANK"] != "s3cr3t-1" {
		t.Errorf("the old key does not open any more: %v, %v", values, err)
	}
	fresh := NewVault(old.db, ringOf(t, 2))
	if _, err := fresh.valuesFor(ctx, admin.Team, "pay", []string{"BANK"}); err == nil || !strings.Contains(err.Error(), "WEFTLINE_SECRET_KEY") {
		t.Errorf("without the old key: %v", err)
	}
}

func TestSecretsThatAreRefused(t *testing.T) {
	vault, admin := newVault(t, 1)
	for _, c := range []struct{ name, value string }{
		{"", "value"}, {"1ST", "value"}, {"A-B", "value"}, {"A", "abc"}, {"A", strings.Repeat("x", longestSecret+1)},
	} {
		wantRefusal(t, vault.PutSecret(t.Context(), admin, SecretChange{Name: c.name, Value: c.value}), "invalid_input")
	}
	keyless := NewVault(vault.db, nil)
	wantRefusal(t, keyless.PutSecret(t.Context(), admin, SecretChange{Name: "A", Value: "value"}), "conflict")
}
