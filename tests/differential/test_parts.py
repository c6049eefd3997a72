"""The parts of the comparison that need no server: python3 -B -m unittest, in this folder."""
import datetime
import sys
import unittest

sys.dont_write_bytecode = True
from compare import ABSENT, Difference, Groups, differences, normalised  # noqa: E402
from known import KNOWN, Known, reason_for, without_value  # noqa: E402
from objects import BASES, Base  # noqa: E402
from requests import MODES, Ground, nested  # noqa: E402
from schema import REMOVED, Schemas  # noqa: E402
from values import interesting, usual  # noqa: E402
from wire import Answer, Request  # noqa: E402

NOW = datetime.datetime(2026, 1, 1, 12, 0, 0)
STRING, COUNT = {"type": "string"}, {"type": "integer"}
SCHEMAS = Schemas([{"components": {"schemas": {
    "x.Thing": {
        "x-kubernetes-group-version-kind": [{"group": "x", "version": "v1", "kind": "Thing"}],
        "properties": {"apiVersion": STRING, "kind": STRING, "spec": {"allOf": [{"$ref": "#/x.Spec"}]},
                       "status": {"properties": {"ready": COUNT}},
                       "metadata": {"properties": {"name": STRING, "uid": STRING}}}},
    "x.Spec": {"required": ["replicas"], "properties": {
        "replicas": COUNT, "below": {"$ref": "#/x.Spec"},
        "ports": {"type": "array", "items": {"required": ["port"], "properties": {
            "port": COUNT, "name": STRING}}},
        "labels": {"type": "object", "additionalProperties": STRING}}}}}}])
THING = Base("things", "Thing", "x/v1", {"spec": {"replicas": 2}})
GROUND = Ground(SCHEMAS, THING, "n")


def status(*causes, code=422):
    told = [{"field": "f", "message": cause, "reason": "R"} for cause in causes]
    return Answer(code, body={"kind": "Status", "message": ", ".join(causes), "details": {"causes": told}})


class Normalising(unittest.TestCase):
    def of(self, value, sent=""):
        return normalised(value, sent, NOW)

    def test_what_each_server_chooses_is_gone(self):
        value = {"metadata": {"resourceVersion": "5", "uid": "00000000-1111-2222-3333-444444444444",
                              "creationTimestamp": "2026-01-01T12:00:05Z"},
                 "time": "2026-01-01T11:59:00.123456Z", "clusterIP": "10.96.3.4", "nodePort": 31234,
                 "cell": "80:31234/TCP"}
        self.assertEqual(self.of(value), {
            "metadata": {"resourceVersion": "REVISION", "uid": "UID", "creationTimestamp": "NOW"},
            "time": "NOW.000000", "clusterIP": "ADDRESS", "nodePort": "PORT", "cell": "80:PORT/TCP"})

    def test_what_was_sent_or_is_not_recent_stays(self):
        value = {"uid": "00000000-1111-2222-3333-444444444444", "clusterIP": "10.96.3.4", "nodePort": 31234,
                 "at": "2024-01-01T00:00:00Z", "ip": "10.1.1.1", "resourceVersion": "5"}
        self.assertEqual(self.of(value, '"00000000-1111-2222-3333-444444444444" "10.96.3.4" 31234'), value)

    def test_managed_fields_by_their_manager(self):
        entry = {"manager": "m", "operation": "Apply", "apiVersion": "v1"}
        self.assertEqual(list(self.of({"managedFields": [entry]})["managedFields"]), ["m/Apply/v1/"])


class Differences(unittest.TestCase):
    def of(self, real, sandbox):
        return differences(Request("GET", "/"), real, sandbox)

    def test_codes_come_with_their_words_and_alone(self):
        self.assertEqual(self.of(Answer(201, "a", body={}), status("bad")),
                         [Difference("code", "201", "422 bad")])

    def test_each_place_of_a_body(self):
        found = self.of(Answer(200, "a", ["w"], {"a": [{"b": 1}], "c": 1, "d": 1}),
                        Answer(200, "b", [], {"a": [{"b": True}], "c": 1, "e": None}))
        self.assertEqual(found, [
            Difference("content type", "a", "b"), Difference("warning", "w", ""),
            Difference(".a[0].b", 1, True), Difference(".d", 1, ABSENT), Difference(".e", ABSENT, None)])
        self.assertEqual(found[2].field, ".a[].b")

    def test_causes_are_compared_with_their_number_and_order(self):
        self.assertEqual(self.of(status("a", "b", "b"), status("b", "a", "c")),
                         [Difference("cause", "f: b (R)", "f: c (R)")])
        self.assertEqual([one.place for one in self.of(status("a", "b"), status("b", "a"))],
                         ["order of causes"])
        self.assertEqual(self.of(status("a"), status("a")), [])


class Grouping(unittest.TestCase):
    def test_like_differences_are_one_group_with_one_example(self):
        groups = Groups()
        groups.add("create", "Pod", "first", Difference("cause", 'spec.a[0]: "x" is 5 wrong', ""))
        groups.add("create", "Job", "second", Difference("cause", 'spec.template.spec.a[1]: "y" is 6 wrong', ""))
        groups.add("create", "Pod", "third", Difference(".spec.a[3]", 1, ABSENT))
        self.assertEqual([(group.count, dict(group.kinds), group.example[1]) for group in groups.sorted()],
                         [(2, {"Pod": 1, "Job": 1}, "first"), (1, {"Pod": 1}, "third")])

    def test_known_ones_by_kind_mode_place_and_both_sides(self):
        entry = Known("why", r"\.a\[\]", real="^o", kinds=("Pod",), modes=("create",), alike=sorted)
        for mode, kind, difference, matches in (
                ("create", "Pod", Difference(".a[7]", "one", "neo"), True),
                ("create", "Pod", Difference(".a[7]", "one", "two"), False),
                ("create", "Pod", Difference(".a[7].b", "one", "neo"), False),
                ("create", "Job", Difference(".a[7]", "one", "neo"), False),
                ("update", "Pod", Difference(".a[7]", "one", "neo"), False)):
            self.assertEqual(reason_for(mode, kind, difference, [entry]), entry if matches else None)
        self.assertTrue(all(entry.reason for entry in KNOWN))
        self.assertEqual(without_value('f: Invalid value: {"A": [1]}: no'), without_value(
            'f: Invalid value: "{\\"a\\": [1]}": no'))


class Mutations(unittest.TestCase):
    def test_places_enter_a_type_once_and_leave_out_what_is_not_sent(self):
        self.assertEqual([str(place) for place in GROUND.places()], [
            "spec", "spec.replicas", "spec.below", "spec.ports", "spec.ports.0.port", "spec.ports.0.name",
            "spec.labels", "status", "status.ready", "metadata"])

    def test_a_place_is_set_with_what_is_needed_on_the_way(self):
        places = {str(place): place for place in GROUND.places()}

        def spec(name, value):
            return GROUND.changed([(places[name], value)])["spec"]
        self.assertEqual(spec("spec.ports.0.name", None), {
            "replicas": 2, "ports": [{"port": 80, "name": None}]})
        self.assertEqual(spec("spec.replicas", REMOVED), {})
        self.assertEqual(spec("spec", 5), 5)
        self.assertEqual(THING.rest, {"spec": {"replicas": 2}})  # it was a copy
        self.assertEqual(nested(("spec", "ports", 0, "name"), 1), {"spec": {"ports": [{"name": 1}]}})

    def test_values_by_type(self):
        ports = SCHEMAS.named["x.Spec"]["properties"]["ports"]
        self.assertEqual(usual(SCHEMAS, ports), [{"port": 80}])
        self.assertIn([{"port": 80}, {"port": 80}], interesting(SCHEMAS, ports, "ports"))
        self.assertIn(2**63, interesting(SCHEMAS, COUNT, "replicas"))

    def test_modes_ask_the_same_for_the_same_seed(self):
        def asked(mode, seed):
            return [(request.method, request.path, request.text) for changes in MODES[mode].tries(GROUND, seed)
                    for request in MODES[mode].requests(GROUND, changes)]
        self.assertEqual(asked("pairs", 1), asked("pairs", 1))
        self.assertNotEqual(asked("pairs", 1), asked("pairs", 2))
        for mode in MODES:
            self.assertTrue(all("dryRun=All" in path for _, path, _ in asked(mode, 1)), mode)
        self.assertTrue(all(path.split("?")[0].endswith("/status") for _, path, _ in asked("status", 1)))

    def test_the_bases_have_names_and_paths_of_their_own(self):
        paths = [base.path(f"n{index}") for index, base in enumerate(BASES)]
        self.assertEqual(len(set(paths)), len(paths))

    def test_the_line_of_curl_is_one_word_for_the_shell_where_it_must_be(self):
        line = Request("PUT", "/a?b&c", {"it's": 1}).curl()
        self.assertIn("""--data-binary '{"it'"'"'s":1}' $s'/a?b&c'; echo; done""", line)


if __name__ == "__main__":
    unittest.main()
