"""What cloud-init makes of cloud-config documents: one JSON object a document, with the verdict of `cloud-init schema` and what is read.

Arguments: files. A first line `## template: jinja` is left out, as cloud-init does once the template is rendered.
"""

import contextlib
import json
import sys
import tempfile

import yaml
from cloudinit.config.schema import SchemaValidationError, get_schema, validate_cloudconfig_file

HEADER = b"## template: jinja\n"


def judge(path, schema):
    with open(path, "rb") as document:
        data = document.read()
    data = data[len(HEADER) :] if data.startswith(HEADER) else data
    with tempfile.NamedTemporaryFile() as copy:
        copy.write(data)
        copy.flush()
        try:
            validate_cloudconfig_file(copy.name, schema)
        except SchemaValidationError as error:
            return {"path": path, "errors": str(error), "value": None}
    return {"path": path, "errors": None, "value": yaml.safe_load(data)}


# cloud-init talks on standard output.
with contextlib.redirect_stdout(sys.stderr):
    schema = get_schema()
    judgements = [judge(path, schema) for path in sys.argv[1:]]
for judgement in judgements:
    print(json.dumps(judgement))
