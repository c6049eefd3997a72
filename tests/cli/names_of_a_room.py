#!/usr/bin/env python3
"""Fails when two files of a room declare the same thing in their anonymous namespaces.

Builds with KUBEWATCH_UNITY compile eight files of a room as one, so such a name breaks a build as soon as a new
file moves its two homes into the same eight: in files that nobody touched. Overloads do not clash and are free.
Reads the text, not the language: it knows the shapes that clang-format leaves. $1: the root of the tree.
"""
import collections
import pathlib
import re
import sys

SEPARATE = {"cel"}  # rooms whose files are never compiled together (CMakeLists.txt)
TEMPLATE = r"(?:template ?<[^>]*(?:<[^>]*>[^>]*)*> ?)?"


def without_texts(source):
    """Without what may hold braces that open nothing: comments, texts, characters, lines of the preprocessor."""
    source = re.sub(r'R"(\w*)\(.*?\)\1"', '""', source, flags=re.S)
    source = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', source)
    source = re.sub(r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", "0", source)
    source = re.sub(r"//.*|^\s*#.*(?:\\\n.*)*", "", source, flags=re.M)
    return source


def declarations(source):
    """Each declaration that stands directly in an anonymous namespace, up to its body or its end."""
    open_braces = []
    text = ""
    for sign in without_texts(source):
        inside = "{" in open_braces
        if sign == "{":
            namespace = not inside and re.search(r"\bnamespace(?: [\w:]+)?$", text.strip())
            if namespace:
                open_braces.append("anonymous" if text.strip().endswith("namespace") else "named")
                text = ""
                continue
            if not inside and "anonymous" in open_braces and text.strip():
                yield " ".join(text.split())
                text = ""
            open_braces.append("{")
        elif sign == "}":
            if open_braces:
                open_braces.pop()
        elif not inside and sign == ";":
            if "anonymous" in open_braces and text.strip():
                yield " ".join(text.split())
            text = ""
        elif not inside:
            text += sign


def parameter_types(parameters):
    """`const Json& a, int b = 2` as ("const Json&", "int")."""
    types, depth, one = [], 0, ""
    for sign in parameters + ",":
        depth += (sign in "<([{") - (sign in ">)]}")
        if sign == "," and depth == 0:
            if one.strip():
                types.append(re.sub(r"(?<=[\s&*>])\w+$", "", one.split("=")[0].strip()).strip())
            one = ""
        else:
            one += sign
    return tuple(types)


def identity(declaration):
    """What makes a declaration clash with another: its name, of a function also the types that it takes."""
    declaration = re.sub(r"\[\[.*?\]\]", "", declaration).strip()
    if not re.match(r"[A-Za-z]", declaration) or re.match(r"using (?:namespace )?[\w:]+$", declaration):
        return None  # the rest of an initializer, or what a second time says the same
    kind = re.match(TEMPLATE + r"(?:struct|class|enum class|enum|union) (\w+)", declaration)
    alias = re.match(TEMPLATE + r"(?:using|namespace) (\w+) =", declaration)
    if kind or alias:
        return (kind or alias).group(1)
    function = re.match(r"([^=(]*?)(\w+)\((.*)\)[^)]*$", declaration)
    if function:
        return None if function.group(1).endswith("::") else (function.group(2), parameter_types(function.group(3)))
    variable = re.search(r"([A-Za-z]\w*)(?:\[[^\]]*\])* ?(?:=|$)", declaration)
    return variable.group(1) if variable else None


def same_alias(declarations):
    """C++ lets a file say twice that a name stands for the same thing."""
    return len(set(declarations)) == 1 and re.match(r"(?:using|namespace) \w+ =", next(iter(declarations)))


def main(root):
    homes = collections.defaultdict(dict)  # what -> file -> declaration
    rooms = [*root.glob("lib/*/"), root / "cli"]
    for room in rooms:
        if room.name in SEPARATE:
            continue
        for file in room.rglob("*.cpp"):
            for declaration in declarations(file.read_text()):
                name = identity(declaration)
                if name:
                    homes[(room.name, name)][str(file.relative_to(room))] = declaration
    if len(homes) < 1000:
        sys.exit(f"only {len(homes)} names found: this script no longer reads what the files look like")
    shared = {key: files for key, files in homes.items() if len(files) > 1 and not same_alias(files.values())}
    for (room, name), files in sorted(shared.items(), key=str):
        shown = name if isinstance(name, str) else f"{name[0]}({', '.join(name[1])})"
        print(f"{room}: {shown} is declared in {', '.join(sorted(files))}: say it once, or name each for what it is")
    return 1 if shared else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
