"""The rules of two families' chat templates, as their repositories publish them (Mistral 7B v0.2, Gemma 2)."""

ALTERNATE = "Conversation roles must alternate user/assistant/user/assistant/..."
_ORDER = (
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('"
    + ALTERNATE
    + "') }}{% endif %}"
)
MISTRAL = (
    "{{ bos_token }}{% for message in messages %}" + _ORDER + "{% if message['role'] == 'user' %}"
    "{{ '[INST] ' + message['content'] + ' [/INST]' }}{% elif message['role'] == 'assistant' %}"
    "{{ message['content'] + eos_token}}{% else %}"
    "{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}"
)
GEMMA = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}"
    "{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for message in messages %}" + _ORDER + "{% if (message['role'] == 'assistant') %}{% set role = 'model' %}"
    "{% else %}{% set role = message['role'] %}{% endif %}"
    "{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{'<start_of_turn>model\n'}}{% endif %}"
)
