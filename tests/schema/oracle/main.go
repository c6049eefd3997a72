// Random histories of applies and updates, played with the library that kube-apiserver itself uses, for
// oracle_test.cpp to replay. Not part of the build.
// Run: cd tests/schema/oracle && go run . > histories.json   (after `go mod tidy` where go.sum is missing)
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// The same schema twice: for the library, and as a CRD's openAPIV3Schema.
const smdSchema = `types:
- name: thing
  map:
    fields:
    - {name: apiVersion, type: {scalar: string}}
    - {name: kind, type: {scalar: string}}
    - {name: spec, type: {namedType: spec}}
- name: spec
  map:
    fields:
    - {name: "n", type: {scalar: numeric}}
    - name: tags
      type: {list: {elementRelationship: associative, elementType: {scalar: string}}}
    - name: items
      type: {list: {elementRelationship: associative, keys: [name], elementType: {namedType: item}}}
    - name: pairs
      type: {list: {elementRelationship: associative, keys: [k, p], elementType: {namedType: pair}}}
    - name: words
      type: {list: {elementRelationship: atomic, elementType: {scalar: string}}}
    - name: box
      type: {map: {elementRelationship: atomic, fields: [{name: a, type: {scalar: numeric}}, {name: b, type: {scalar: numeric}}]}}
    - name: free
      type: {map: {elementType: {scalar: string}}}
    - name: deep
      type: {namedType: deep}
    - name: any
      type: {namedType: __untyped_deduced_}
- name: deep
  map:
    fields:
    - {name: value, type: {scalar: string}}
    - {name: deeper, type: {namedType: deep}}
- name: item
  map:
    fields:
    - {name: name, type: {scalar: string}}
    - {name: v, type: {scalar: numeric}}
    - name: tags
      type: {list: {elementRelationship: associative, elementType: {scalar: string}}}
    - name: free
      type: {map: {elementType: {scalar: string}}}
- name: pair
  map:
    fields:
    - {name: k, type: {scalar: numeric}}
    - {name: p, type: {scalar: string}, default: TCP}
    - {name: v, type: {scalar: numeric}}
- name: __untyped_atomic_
  scalar: untyped
  list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
  map: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
- name: __untyped_deduced_
  scalar: untyped
  list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
  map: {elementType: {namedType: __untyped_deduced_}, elementRelationship: separable}
`

const crdSchema = `{"type":"object","properties":{"spec":{"type":"object","properties":{
"n":{"type":"integer"},
"tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
"items":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{
  "type":"object","properties":{"name":{"type":"string"},"v":{"type":"integer"},
  "tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
  "free":{"type":"object","additionalProperties":{"type":"string"}}}}},
"pairs":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k","p"],"items":{
  "type":"object","properties":{"k":{"type":"integer"},"p":{"type":"string","default":"TCP"},
  "v":{"type":"integer"}}}},
"words":{"type":"array","items":{"type":"string"}},
"box":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"integer"},"b":{"type":"integer"}}},
"free":{"type":"object","additionalProperties":{"type":"string"}},
"deep":{"type":"object","properties":{"value":{"type":"string"},"deeper":{"type":"object","properties":{
  "value":{"type":"string"},"deeper":{"type":"object","properties":{"value":{"type":"string"}}}}}}},
"any":{"x-kubernetes-preserve-unknown-fields":true}}}}}`

type object = map[string]interface{}
type list = []interface{}

type sameVersion struct{}

func (sameVersion) Convert(o *typed.TypedValue, _ fieldpath.APIVersion) (*typed.TypedValue, error) {
	return o, nil
}
func (sameVersion) IsMissingVersionError(error) bool { return false }

var random = rand.New(rand.NewSource(20261121))

func maybe() bool         { return random.Intn(2) == 0 }
func word() string        { return string(rune('p' + random.Intn(5))) }
func number() interface{} { return int64(random.Intn(3)) }

func words(duplicates bool) list {
	out, seen := list{}, map[string]bool{}
	for i := random.Intn(6); i > 0; i-- {
		w := word()
		if duplicates || !seen[w] {
			out = append(out, w)
		}
		seen[w] = true
	}
	return out
}

func free() object {
	out := object{}
	for i := random.Intn(4); i > 0; i-- {
		out[word()] = word()
	}
	return out
}

func items(duplicates bool) list {
	out := list{}
	for _, name := range words(duplicates) {
		item := object{"name": name}
		if maybe() {
			item["v"] = number()
		}
		if random.Intn(4) == 0 {
			item["tags"] = words(duplicates)
		}
		if random.Intn(4) == 0 {
			item["free"] = free()
		}
		out = append(out, item)
	}
	return out
}

func pairs() list {
	out := list{}
	for _, k := range random.Perm(3)[:random.Intn(3)] {
		item := object{"k": int64(k)}
		if maybe() {
			item["p"] = []string{"TCP", "UDP"}[random.Intn(2)]
		}
		if maybe() {
			item["v"] = number()
		}
		out = append(out, item)
	}
	return out
}

func deep(level int) object {
	out := object{}
	if maybe() {
		out["value"] = word()
	}
	if level > 0 && maybe() {
		out["deeper"] = deep(level - 1)
	}
	return out
}

func anything(level int) interface{} {
	switch random.Intn(6) {
	case 0:
		return word()
	case 1:
		return number()
	case 2:
		return nil
	case 3:
		return words(true)
	}
	out := object{}
	if level > 0 {
		for i := random.Intn(3); i > 0; i-- {
			out[word()] = anything(level - 1)
		}
	}
	return out
}

func spec(duplicates bool) object {
	out := object{}
	set := func(name string, value interface{}) {
		if random.Intn(3) == 0 {
			out[name] = value
		}
	}
	set("n", number())
	set("tags", words(duplicates))
	set("items", items(duplicates))
	set("pairs", pairs())
	set("words", words(true))
	set("box", object{[]string{"a", "b"}[random.Intn(2)]: number()})
	set("free", free())
	set("deep", deep(2))
	set("any", anything(2))
	return out
}

func thing(s object) object { return object{"apiVersion": "x/v1", "kind": "Thing", "spec": s} }

// Copies, because the library may share what it was given.
func clone(o interface{}) interface{} {
	b, _ := json.Marshal(o)
	var out interface{}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		panic(err)
	}
	return ints(out)
}

func ints(v interface{}) interface{} {
	switch t := v.(type) {
	case json.Number:
		i, _ := t.Int64()
		return i
	case object:
		for k := range t {
			t[k] = ints(t[k])
		}
	case list:
		for i := range t {
			t[i] = ints(t[i])
		}
	}
	return v
}

func owners(managers fieldpath.ManagedFields) map[string]json.RawMessage {
	identity := fieldpath.NewSet(fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind"))
	out := map[string]json.RawMessage{}
	for name, set := range managers {
		rest := set.Set().Difference(identity)
		if rest.Empty() {
			continue
		}
		text, err := rest.ToJSON()
		if err != nil {
			panic(err)
		}
		out[name] = text
	}
	return out
}

func conflictsOf(err error) []string {
	conflicts, ok := err.(merge.Conflicts)
	if !ok {
		panic(err)
	}
	out := []string{}
	for _, c := range conflicts {
		out = append(out, c.Manager+" "+c.Path.String())
	}
	sort.Strings(out)
	return out
}

func history(kind typed.ParseableType) []object {
	updater := (&merge.UpdaterBuilder{Converter: sameVersion{}}).BuildUpdater()
	live, err := kind.FromUnstructured(object{})
	if err != nil {
		panic(err)
	}
	managers := fieldpath.ManagedFields{}
	steps := []object{}
	for i := 0; i < 6; i++ {
		step := object{}
		update := random.Intn(4) == 0
		duplicates := update && random.Intn(3) == 0
		sent := thing(spec(duplicates))
		if update && len(steps) > 0 && maybe() {
			sent = clone(live.AsValue().Unstructured()).(object)
			for k, v := range spec(duplicates) {
				s, ok := sent["spec"].(object)
				if !ok {
					s = object{}
					sent["spec"] = s
				}
				s[k] = v
			}
		}
		step["body"] = clone(sent)
		var name string
		if update {
			name = fmt.Sprintf("u%d", random.Intn(2))
			value, err := kind.FromUnstructured(clone(sent), typed.AllowDuplicates)
			if err != nil {
				panic(err)
			}
			_, managers, err = updater.Update(live, value, "x/v1", managers.Copy(), name)
			if err != nil {
				panic(err)
			}
			live = value
		} else {
			name = fmt.Sprintf("a%d", random.Intn(3))
			value, err := kind.FromUnstructured(clone(sent))
			if err != nil {
				panic(err)
			}
			force := random.Intn(3) > 0
			step["force"] = force
			before := managers.Copy()
			result, after, err := updater.Apply(live, value, "x/v1", managers.Copy(), name, force)
			if err != nil {
				step["conflicts"] = conflictsOf(err)
				managers = before
			} else {
				managers = after
				if result != nil {
					live = result
				}
			}
		}
		step["manager"] = name
		step["live"] = clone(live.AsValue().Unstructured())
		step["owners"] = owners(managers)
		steps = append(steps, step)
		if len(owners(managers)) == 0 {
			break // kube-apiserver stops tracking here, the library does not
		}
	}
	return steps
}

func main() {
	parser, err := typed.NewParser(smdSchema)
	if err != nil {
		panic(err)
	}
	histories := []interface{}{}
	for i := 0; i < 100; i++ {
		histories = append(histories, history(parser.Type("thing")))
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	fmt.Println(`{"crd_schema":` + crdSchema + `,"histories":[`)
	for i, h := range histories {
		if i > 0 {
			fmt.Println(",")
		}
		if err := out.Encode(h); err != nil {
			panic(err)
		}
	}
	fmt.Println("]}")
}
