"""`{% part "TEMPLATE" name=value %}`: as include, for a part that is the same for everybody."""

from __future__ import annotations

from collections.abc import Hashable

from django import template
from django.utils.safestring import SafeString

from annotator.grading import display

register = template.Library()


@register.simple_tag
def part(name: str, **values: Hashable) -> SafeString:
    return display.part_html(name, **values)
