#!/usr/bin/env bash
# Gradescope runs this once, as root, when it makes the container: Python, what the grader needs, and the grader.
set -euo pipefail
cd /autograder/source
version=$(cat python-version)

# The Python that the instructor has; uv fetches it where the container has another one.
if ! python=$(command -v "python$version"); then
  python3 -c 'import ensurepip' || { apt-get update && apt-get install -y python3-venv; }
  python3 -m venv /opt/uv
  /opt/uv/bin/pip install uv
  /opt/uv/bin/uv python install --install-dir /opt/python "$version"
  python=$(UV_PYTHON_INSTALL_DIR=/opt/python /opt/uv/bin/uv python find --managed-python "$version")
fi
"$python" -c 'import ensurepip' || { apt-get update && apt-get install -y "python$version-venv"; }

"$python" -m venv /opt/fhx
/opt/fhx/bin/pip install --no-cache-dir -r requirements.txt
cp -r fhx fhx-*.dist-info "/opt/fhx/lib/python$version/site-packages/"
/opt/fhx/bin/python -m compileall -q "/opt/fhx/lib/python$version/site-packages/fhx"

# What students' code must not read: right values and the grader. Their processes are another user's.
chmod -R go= "/opt/fhx/lib/python$version/site-packages/fhx/"{course,exercises}
