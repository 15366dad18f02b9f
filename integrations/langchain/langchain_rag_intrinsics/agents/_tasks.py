"""Whether a user's turn gives a task, such as "Summarise the report", or asks a question that documents answer.

Told from English words: a sentence is a task that begins with what to do ("Translate", "Please book"), behind courtesy
or a request ("Can you", "I'd like you to"), or that says it after something to find out ("find out who built the mill
and mail it to Anna"). "Tell me", "explain" and "list" ask. Beside a question, how it is to be answered is no task
(`_shape`). What is not recognised is a question.
"""

from __future__ import annotations

import re

from langchain_rag_intrinsics.agents._shape import without_shape

# What an agent does with a text or the world; words that are nouns, too, only where what they are done to follows.
# A verb that only asks to be told something is not among them.
_TO = r"(?:an?|the|this|that|these|those|it|them|him|her|me|us|my|our|your|his|its|their|all|every|each|both|one|two)\b"
_NOUNS = (
    r"(?:contrast|draft|make|plan|design|turn|format|sort|rank|mail|e-?mail|message|text|post|share|call|store|note"
    r"|record|log|file|upload|download|export|import|print|copy|move|update|set|schedule|book|order|pay|transfer|refund"
    r"|run|start|stop|open|close|research|review|put|keep|use|create|edit|correct|reply|invite|register|remind|forward)"
)
_VERBS = (
    r"(?:summar(?:ise|ize)|sum\sup|translate|compare|rewrite|rephrase|paraphrase|shorten|proofread|write|compose|prepare"
    r"|generate|convert|merge|combine|send|publish|notify|inform|save|rename|delete|remove|cancel|add|insert|reschedule"
    r"|reserve|buy|submit|fill\s(?:in|out)|set\sup|install|deploy|analy[sz]e|let\s\w+\sknow)\b(?!['’])"
)
_DO = rf"(?:{_VERBS}|{_NOUNS}\s(?:{_TO}|(?-i:[A-Z][a-z])|\d))"
_FIND = (
    r"(?:find(?:\sout)?|look(?:\sup|\sfor)?|search(?:\sfor)?|check|figure\sout|get|read|go\sthrough|tell|give|list)\b"
)
_POLITE = (
    r"(?:(?:please|kindly|now|then|next|first|also|ok|okay|so|and|hi|hello|hey|thanks|great)\b[\s,:!.]{1,3}){0,3}"
    r"(?:(?:can|could|would|will)\syou\s|(?:i\swant|i['’]d\slike|i\swould\slike|i\sneed)\syou\sto\s|help\sme\s(?:to\s)?)?"
    r"(?:(?:please|kindly|also|quickly|briefly)\s){0,2}"
)
_AGENT_DOES = re.compile(rf"\A{_POLITE}{_DO}", re.IGNORECASE)
_AGENT_FINDS = re.compile(rf"\A{_POLITE}{_FIND}", re.IGNORECASE)
_AND_DOES = re.compile(rf"(?:\band|\bthen|[,;])\s(?:(?:and|then|also|please)\s){{0,2}}{_DO}", re.IGNORECASE)
_ASKS = re.compile(
    rf"\A{_POLITE}(?:{_FIND}|who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|may|must"
    r"|will|would|should|has|have|explain|describe|show)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?\n]+")
_SPACES = re.compile(r"\s+")


def is_task(text: str) -> bool:
    """Whether a turn tells the agent to do something other than to answer from documents."""
    sentences = [_SPACES.sub(" ", sentence).strip() for sentence in _SENTENCE.findall(text)]
    left = list(map(without_shape, sentences))
    # "Make it short." by itself is about the answer before.
    asks = left != sentences and any(map(_ASKS.match, left))
    return any(map(_tells, left if asks else sentences))


def _tells(sentence: str) -> bool:
    if _AGENT_DOES.match(sentence):
        return True
    return bool(_AGENT_FINDS.match(sentence) and _AND_DOES.search(sentence))
