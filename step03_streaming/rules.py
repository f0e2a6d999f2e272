"""The script of the fake model. The first rule that matches wins, so the fallback comes last."""

from .fake_model import Rule

RULES = [
    Rule(match="你好", reply="你好！我是一个只会念剧本的假模型，回答会一小段一小段地吐出来。"),
    Rule(match="断线", reply="我正说到一半，", error="连接断了"),
    Rule(reply="这句话没有命中任何规则，我只能用兜底回复了。"),
]
