package settings

import (
	"net/url"
	"slices"
	"time"
)

// Connections is the page of connections.
type Connections struct {
	Now     time.Time
	Rows    []ConnectionRow
	MayEdit bool
	Form    ConnectionForm
	Tested  string // what the test of a connection came to
	TestOK  bool
	CSRF    string
}

// ConnectionRow is one connection.
type ConnectionRow struct {
	Name, Kind, By string
	Settings       []string // "host: db.test"
	Secrets        []string // "password: DB_PASSWORD"
	Missing        []string // secrets that there are no longer
	UsableBy       []string
	UpdatedAt      time.Time
}

// ConnectionForm asks for one connection; its kind, and the way to authenticate, decide what else it asks.
type ConnectionForm struct {
	Name, Kind, Auth, UsableBy string
	Kept                       bool // it exists, so its name stays
	Kinds, Auths               []string
	Fields                     []ConnectionField
	SecretNames                []string // what fields for secrets offer
	Error                      string
}

// ConnectionField is one field of the form.
type ConnectionField struct {
	Name, Value, Default string
	Secret, Required     bool
	Choices              []string
}

// Input is the name of the field in the form that is sent.
func (f ConnectionField) Input() string {
	if f.Secret {
		return "secret." + f.Name
	}
	return "setting." + f.Name
}

func (f ConnectionField) words() fieldWords {
	if words, ok := connectionWords[f.Name]; ok {
		return words
	}
	return fieldWords{label: f.Name}
}

// offered are the secrets to choose from, with the chosen one also when the team has it no longer.
func (f ConnectionField) offered(names []string) []string {
	if f.Value == "" || slices.Contains(names, f.Value) {
		return names
	}
	return append(slices.Clone(names), f.Value)
}

// to is the address of this form for another kind or way to authenticate.
func (f ConnectionForm) to(kind, auth string) string {
	query := url.Values{"kind": {kind}}
	if auth != "" {
		query.Set("auth", auth)
	}
	if f.Kept {
		query.Set("name", f.Name)
	}
	return "/settings/connections?" + query.Encode() + "#connection-form"
}

func (f ConnectionForm) title() string {
	if f.Kept {
		return "Change " + f.Name
	}
	return "New connection"
}

var kindWords = map[string]string{"http": "Web service", "sql": "PostgreSQL", "smtp": "Mail server", "ai": "AI model"}

var authWords = map[string]string{"": "No credential", "basic": "User and password", "bearer": "Bearer token", "api_key": "API key", "hmac": "Signature (HMAC)", "oauth2": "OAuth 2 client"}

// wordOf is a word of a table, the key itself where it has none.
func wordOf(words map[string]string, key string) string {
	if word, ok := words[key]; ok {
		return word
	}
	return key
}

type fieldWords struct{ label, help, example string }

// connectionWords are labels and help of the fields of all kinds.
var connectionWords = map[string]fieldWords{
	"baseUrl":      {"Address", "Activities give paths below it.", "https://api.example.com/v2"},
	"host":         {"Host", "", "db.example.com"},
	"port":         {"Port", "", ""},
	"database":     {"Database", "", "orders"},
	"user":         {"User", "", ""},
	"sslmode":      {"Encryption", "verify-full also checks the name in the server's certificate.", ""},
	"security":     {"Encryption", "", ""},
	"username":     {"User", "", ""},
	"from":         {"Sender", "Of mails whose activity names none.", "workflows@example.com"},
	"model":        {"Model", "Of activities that name none.", ""},
	"in":           {"The key goes into", "", ""},
	"name":         {"Name of the header or parameter", "", "X-Api-Key"},
	"header":       {"Header of the signature", "", "X-Signature"},
	"tokenUrl":     {"Address that gives tokens", "", "https://login.example.com/oauth/token"},
	"clientId":     {"Client id", "", ""},
	"scope":        {"Scope", "", ""},
	"password":     {"Password", "", ""},
	"token":        {"Token", "", ""},
	"value":        {"Key", "", ""},
	"secret":       {"Secret of the signature", "", ""},
	"clientSecret": {"Client secret", "", ""},
	"apiKey":       {"API key", "", ""},
}

func (f ConnectionField) placeholder() string {
	if f.Default != "" {
		return f.Default
	}
	return f.words().example
}
