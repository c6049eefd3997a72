// Every program below runs over every input, here and in the jq command, and must do the same:
// values, order, errors and their words. Not here, because jq 1.6 has a bug there that we do not
// repeat: an inner
// `?` that catches the `break` of map_values, so that map_values(select(.>1)?) removes what it
// selects.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "jq/jq.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::jq;

namespace {

const char* const kInputs[] = {
    "null",
    "true",
    "false",
    "0",
    "1",
    "-3",
    "2.5",
    "1e3",
    "\"\"",
    "\"abc\"",
    "\"a,b,,c\"",
    "\"aé€😀\"",
    "\"12\"",
    "\" -1.5e2 \"",
    "\"[1,{}]\"",
    "[]",
    "[1,2,3]",
    "[3,1,2,1]",
    "[null,false,0,\"\",[],{}]",
    "[[1,[2]],[3],4]",
    "[\"b\",\"a\",\"c\"]",
    "[{\"a\":2,\"b\":1},{\"a\":1,\"b\":2},{\"a\":2,\"b\":0}]",
    "[{\"key\":\"x\",\"value\":1},{\"name\":\"y\",\"value\":null},{\"Key\":\"z\",\"Value\":3}]",
    "{}",
    "{\"a\":1}",
    "{\"a\":null,\"b\":[1,2],\"c\":{\"d\":\"x\"}}",
    "{\"a\":{\"b\":{\"c\":[10,20]}}}",
    "{\"a\":[{\"b\":1},{\"b\":2}],\"n\":2,\"s\":\"x\"}",
    "{\"a b\":1,\"a\":\"abc\",\"b\":\"b\"}",
    "{\"a\":false,\"b\":0.1,\"c\":1e300}",
    "[1,\"a\",null,true,[1],{\"a\":1}]",
};

const char* const kPrograms[] = {
    // paths
    ".",
    ".a",
    ".a.b",
    ".a.b.c",
    ".\"a b\"",
    ".[\"a\"]",
    ".[\"a\"].b",
    ".a[\"b\"]",
    ".a?",
    ".a.b?",
    ".a?.b?",
    ".a[]",
    ".a[]?",
    ".[]",
    ".[]?",
    ".[].a",
    ".[].a?",
    ".[0]",
    ".[-1]",
    ".[5]",
    ".[-9]",
    ".[1.5]",
    ".[0]?",
    ".[1:]",
    ".[:2]",
    ".[:-1]",
    ".[-2:]",
    ".[1:2]",
    ".[0.5:1.5]",
    ".[5:1]",
    ".[1:]?",
    ".a[0]",
    ".a[0].b",
    ".a[1:][0]",
    ".[(\"a\",\"b\")]",
    ".[(0,1)]",
    ".[(0,1):(2,3)]",
    ".[.a]",
    ".[.a]?",
    ".[null]",
    ".[true]",
    ".[[1]]",
    ".[[]]",
    ".[{}]",
    ".[{\"start\":1,\"end\":2}]",
    "(.a,.b)[\"c\"]",
    "[.[]|.b?]",
    ". \"a\"",
    ".a.\"b\"",
    ".[]?.\"a\"?",
    ".[\"a\",\"b\"]?",
    ".[\"a\":]",
    ".[:\"a\"]",
    // literals, construction
    "1",
    "-1",
    "1.5",
    "1e3",
    "\"x\"",
    "null",
    "true",
    "false",
    "[]",
    "{}",
    "[1,2]",
    "[.]",
    "[.[]?]",
    "{a:1}",
    "{\"a\":1,b:2}",
    "{a}",
    "{a,b}",
    "{\"a b\"}",
    "{a:.b}",
    "{a:(1,2),b:(3,4)}",
    "{(\"x\",\"y\"):(1,2)}",
    "{(.a):1}",
    "{(.s//\"k\"):.n}",
    "{a:{b:[.]}}",
    "{if:1,and:2}",
    "{a:1,}",
    "{a:.|type}",
    "{a:-1}",
    "{\"x\\(1,2)\":3}",
    "{a:1}.a",
    "[1,2][1]",
    "{a:1,a:2}",
    "{a:1,b:2}|{a,b,c}",
    "1 as $x|{$x}",
    "{$x:1}?//1|2",
    // strings
    "\"\\(.)\"",
    "\"a\\(1,2)b\\(3,4)c\"",
    "\"\\(.a?)\"",
    "\"\\u00e9\\ud83d\\ude00\\n\\/\"",
    "\"\\(\"in\\(1)ner\")\"",
    "\"\"",
    "\"a\" + \"b\"",
    "\"\\([.])\"",
    // operators
    ".+1",
    ".+null",
    "null+.",
    ".+\"x\"",
    ".+[1]",
    ".+{\"z\":1}",
    ".+.",
    ".-1",
    ".-[1]",
    ".-.",
    ".*2",
    ".*0",
    ".*{\"a\":{\"z\":1}}",
    "3*.",
    "\"ab\"*.",
    "./2",
    "./\",\"",
    ".%2",
    ".%(-2)",
    "7%.",
    "1/.",
    "(1,2)+(10,20)",
    "(1,2)-(3,4)",
    "1+2*3",
    "(1+2)*3",
    "10-4-3",
    "2*3%4",
    "7/2/2",
    "-.",
    "-(1,2)",
    "1 - -1",
    "-1*2+3",
    "5%3,-5%3,5%-3",
    ".*0.5",
    ".*1.7",
    // comparison and logic
    ".==1",
    ".!=null",
    ".<1",
    ".<=\"abc\"",
    ".>[]",
    ".>={}",
    ".==.",
    "1==1.0",
    "[1,2]<[1,3]",
    "{\"a\":2}<{\"b\":1}",
    "{\"a\":1}<{\"a\":1,\"b\":0}",
    "(1,2)==(2,1)",
    ". and true",
    ". or false",
    "(true,false) and (true,false)",
    "(true,false) or (true,false)",
    "not",
    ".a? and .b?",
    "[.[]?|not]",
    "1 == 1 and 2 == 2 or false",
    "true or error(\"x\")",
    "false and error(\"x\")",
    // alternatives, conditions, errors
    ".a? // 3",
    ".//1",
    "(null,1,2)//3",
    "(null,false)//(4,5)",
    "empty//1",
    "1//error(\"x\")",
    "(false,error(\"x\"))//5",
    ".a//.b//\"d\"",
    "[.[]?]//1",
    "error(\"x\")//1",
    "(error(null))//5",
    "if . then 1 else 2 end",
    "if .a? then .a else \"no\" end",
    "if (true,false) then 1 else 2 end",
    "if 1 then 2 elif 3 then 4 else 5 end",
    "if false then 2 elif null then 4 else 5 end",
    "if . == 1 then \"one\" elif type == \"string\" then . else empty end",
    "if empty then 1 else 2 end",
    "if true then 1,2 else 3 end|.+1",
    "try error(\"x\") catch .",
    "try error catch .",
    "try error({a:1}) catch .a",
    "try error(null) catch 1",
    "[1,error(null),2]",
    "(1,error(\"y\"),3)?",
    "try (1,error(\"y\"),3) catch .",
    "(try 1)|error(\"x\")",
    "(.a,.b)?|error(\"x\")",
    "(try 1 catch \"c\")|error(\"x\")",
    ".a?|error(\"x\")",
    "[.[]?|error(\"x\")]",
    "error",
    "error(.)",
    "try error(\"\\(.)\") catch .",
    "(.a.b.c)?",
    "[(.[]|.a)?]",
    "try -1 catch 2",
    "try .a.b catch .",
    "1??",
    "try error(\"x\")//1",
    "(error(\"x\")?)//5",
    "try (try error(\"a\") catch error(\"b\")) catch .",
    // binding
    ". as $x|$x",
    ". as $x|[$x,$x]",
    ".[]? as $x|$x",
    "(1,2) as $x|(3,4) as $y|[$x,$y]",
    "1 as $x|2 as $x|$x",
    "[1 as $x|$x+1]",
    "1+2 as $x|$x*10",
    "1,2 as $x|$x",
    ".a? as $v|.b? as $w|[$v,$w]",
    "(. as $x|1)|.",
    "[.[]? as $x|$x|type]",
    // pipes and commas
    ".,.",
    "1,2|.+1",
    "(1,2)|(.,.*10)",
    "[.[]?|.,1]",
    "empty",
    "[empty]",
    "1,empty,2",
    "(1,2),(3|4)",
    // functions
    "length",
    "[.[]?|length?]",
    "utf8bytelength",
    "keys",
    "keys_unsorted",
    "keys?",
    "type",
    "[.[]?|type]",
    "has(\"a\")",
    "has(0)",
    "has(1.5)",
    "has(-1)",
    "has(\"a\",\"b\")",
    "has(null)",
    "\"a\"|in({\"a\":1})",
    "0|in([1])",
    "in({\"a\":1})",
    "contains(1)",
    "contains(\"b\")",
    "contains([1])",
    "contains([\"a\"])",
    "contains({\"a\":1})",
    "contains(null)",
    "contains(true)",
    "contains(.)",
    "contains({a:[{b:1}]})",
    "inside(\"xabcx\")",
    "inside([1,2,3,4])",
    "inside({})",
    "any",
    "all",
    "any(.==1)",
    "all(.!=2)",
    "any(.[]?;.)",
    "all(.[]?;.)",
    "any(1,null;.)",
    "all(1,null;.)",
    "any(empty;.)",
    "all(empty;.)",
    "[true,false]|any(.,not)",
    "any((true,error(\"x\"));.)",
    "[1,2]|all(empty)",
    "[1,2]|any(empty)",
    "[1,2]|all(if .==1 then empty else false end)",
    "[false,true]|all(true,.)",
    "[true,true]|any(.,.)",
    "any(.a?)",
    "all(error(\"x\"))",
    "tostring",
    "tonumber",
    "tojson",
    "fromjson",
    "[.[]?|tostring]",
    "[.[]?|tojson]",
    "[0.1,1e-5,1e-4,1.5e300,123456.789,1.25e-7,3.0,1e17,1.5e17,1e1000,100000,0.00012]|map("
    "tostring)",
    "[\"1\",\"+1\",\".5\",\"5.\",\"01\",\"1e3\",\" 12 \",\"nan\"]|map(tonumber)",
    "[\"x\",\"1a\",\"\",\" \",\"-\",\"1 2\",\"[1]\",\"true\",\"0x1\",\"--1\"]|map(try tonumber "
    "catch \"e\")",
    "\"{\\\"a\\\":[1,2.5,null]}\"|fromjson",
    "try (\"{a\"|fromjson) catch \"e\"",
    "\"\\u007f\\u0001\\\"\"|tojson",
    "ascii_downcase",
    "ascii_upcase",
    "ltrimstr(\"a\")",
    "rtrimstr(\"c\")",
    "ltrimstr(1)",
    "rtrimstr(\"\")",
    "ltrimstr(\"abc\")",
    "startswith(\"a\")",
    "endswith(\"c\")",
    "startswith(1)",
    "endswith(1)",
    "startswith(\"a\",\"b\")",
    "split(\",\")",
    "split(\"\")",
    "split(1)",
    "split(\"b\",\",\")",
    "split(\",,\")",
    "join(\",\")",
    "join(\",\",\"-\")",
    "join(1)",
    "join(null)",
    "[\"a\",\"b\"]|join(null)",
    "[1,2]|join(3)",
    "[\"a\",1,null,true,false]|join(\"-\")",
    "map(tostring?)|join(\" \")",
    "[[1]]|join(\",\")",
    "[null]|join(\",\")",
    "[]|join(\",\")",
    "[null,null]|join(\",\")",
    "add",
    "map(.+1)",
    "map(.)",
    "map(.a?)",
    "map(.,.)",
    "map(empty)",
    "[.[]?|numbers]|add",
    "map(select(.>1))",
    "map_values(.)",
    "map_values(type)",
    "map_values(empty)",
    "map_values(.,1)",
    "[1,2,3,4]|map_values(if .%2==0 then empty else . end)",
    "map_values(error(\"x\"))",
    "to_entries",
    "from_entries",
    "with_entries(.)",
    "to_entries|from_entries",
    "with_entries(select(.value!=null))",
    "with_entries({key:\"k\\(.key)\",value:.value})",
    "[{\"key\":1,\"value\":2}]|from_entries",
    "[{\"key\":null}]|from_entries",
    "[{\"key\":false,\"name\":\"n\"}]|from_entries",
    "[{}]|from_entries",
    "[[]]|from_entries",
    "[null]|from_entries",
    "[{\"name\":\"a\",\"Value\":1,\"value\":null}]|from_entries",
    "first",
    "last",
    "first(.[]?)",
    "last(.[]?)",
    "first(empty)",
    "last(empty)",
    "first(1,error(\"x\"))",
    "first(error(\"x\"))",
    "nth(1)",
    "nth(0,1)",
    "nth(\"a\")",
    "[limit(2;.[]?)]",
    "[limit(0;1,2)]",
    "[limit(-1;1,2)]",
    "[limit(1;1,error(\"x\"))]",
    "[limit(1,2;7,8,9)]",
    "limit(\"a\";1)",
    "[limit(null;1,2)]",
    "[limit(2;1)]",
    "[first(range(.))]",
    "sort",
    "sort_by(.a)",
    "sort_by(.a,.b)",
    "sort_by(-.)",
    "sort_by(.)",
    "group_by(.a?)",
    "group_by(.)",
    "unique",
    "unique_by(.a)",
    "unique_by(length?)",
    "min",
    "max",
    "min_by(.a)",
    "max_by(.a)",
    "min_by(.)",
    "max_by(.b?)",
    "sort_by(empty)",
    "flatten",
    "flatten(1)",
    "flatten(0)",
    "flatten(-1)",
    "flatten(\"a\")",
    "flatten(null)",
    "flatten(0,1)",
    "reverse",
    "[range(3)]",
    "[range(2.5)]",
    "[range(1;3)]",
    "[range(0;10;3)]",
    "[range(5;0;-2)]",
    "[range(0;1;0)]",
    "[range(0,1;3,4)]",
    "[range(0;3;1,2)]",
    "range(\"a\")",
    "range(null;2)",
    "[range(.)]?",
    "[range(-2)]",
    "floor",
    "[.[]?|floor?]",
    "values",
    "nulls",
    "strings",
    "numbers",
    "booleans",
    "arrays",
    "objects",
    "iterables",
    "scalars",
    "[.[]?|values]",
    "[.[]?|scalars]",
    "select(.a?)",
    "select(true,true)",
    "select(empty)",
    "[.[]?|select(type==\"number\" and .>1)]",
    "isempty(1)?",
    // what rule files say
    ".a.b.c[0] > 5",
    "(.a//{})|length",
    "{name:.s,namespace:.n}",
    ".a|if type==\"array\" then map(.b)|add else null end",
    "[.a[]?|select(.b==1)|{name:(.b|tostring)}]",
    "(.a|type)==\"array\" and any(.a[];.b==2)",
    "[(.a|arrays|.[]|.b),(.n|numbers)]|add",
    "to_entries?|map(select(.value!=null).key?)",
    "# a comment\n.a? # another\n",
    "[paths]?",
    " ",
    "[.[]?|strings|ascii_upcase]|join(\"/\")",
};

bool is_parse_error(const Json& outcome) {
  return outcome.contains("e") && outcome["e"].is_string() &&
         outcome["e"].get<std::string>().find("while parsing") != std::string::npos;
}

// All outputs of a program as {"v": value}, then {"e": error} if it failed.
Json run_here(const std::string& text, const Json& input, bool& native) {
  const std::string caught = "[try ((" + text + "\n)|{v:.}) catch {e:.}]";
  auto program = Program::compile(caught);
  INFO(text);
  if (!program.ok()) FAIL(program.error().render());
  native = program->native();
  Limits limits;
  limits.deadline = Duration(60000);  // for a busy machine
  auto outputs = program->run(input, limits);
  if (!outputs.ok()) FAIL(outputs.error().render());
  REQUIRE(outputs->size() == 1);
  return outputs->front();
}

std::string run_jq(const std::string& folder, const std::string& program, const Json& input) {
  REQUIRE(base::write_file_atomic(folder + "/program", program, 0600).ok());
  REQUIRE(base::write_file_atomic(folder + "/input", base::dump_json(input), 0600).ok());
  const std::string command = "jq -c -f " + folder + "/program " + folder + "/input 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string out;
  std::array<char, 65536> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    out.append(buffer.data(), count);
  }
  ::pclose(pipe);
  return out;
}

}  // namespace

TEST_CASE("native programs do what the jq command does") {
  if (std::system("command -v jq >/dev/null 2>&1") != 0) {
    std::cout << "skipped: no jq command to compare with; packaging/install-deps installs it\n";
    return;
  }
  Json inputs = Json::array();
  for (const char* input : kInputs) inputs.push_back(Json::parse(input));
  std::vector<std::string> programs;
  std::string all = "[";
  for (const char* text : kPrograms) {
    // libjq against libjq says nothing, and a program that is none breaks all of the file.
    auto compiled = Program::compile(std::string("(") + text + "\n)");
    if (!compiled.ok() || !compiled->native()) continue;
    if (!programs.empty()) all += ",\n";
    all += "[.[]|[try ((" + std::string(text) + "\n)|{v:.}) catch {e:.}]]";
    programs.emplace_back(text);
  }
  all += "]";
  CHECK(programs.size() >= std::size(kPrograms) - 6);
  std::string folder = (std::filesystem::temp_directory_path() / "kw-jq-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const std::string output = run_jq(folder, all, inputs);
  std::filesystem::remove_all(folder);
  auto theirs = base::parse_json(output);
  if (!theirs.ok()) FAIL(output.substr(0, 2000));
  std::size_t compared = 0;
  for (std::size_t p = 0; p < programs.size(); ++p) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      bool native = false;
      const Json ours = run_here(programs[p], inputs[i], native);
      const Json& wanted = (*theirs)[p][i];
      ++compared;
      if (native && ours == wanted) continue;
      const bool both_parse_errors = !ours.empty() && !wanted.empty() &&
                                     is_parse_error(ours.back()) && is_parse_error(wanted.back());
      INFO(programs[p] << "   over   " << inputs[i].dump());
      if (!both_parse_errors) CHECK(ours.dump() == wanted.dump());
    }
  }
  CHECK(compared > 9000);
}
