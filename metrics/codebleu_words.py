"""Words that count more in CodeBLEU: lists, not `keyword.kwlist` and `dir()`, so that no Python adds to them."""

from __future__ import annotations

_KEYWORDS = (
    "False None True and as assert async await break class continue def del elif else except finally for from "
    "global if import in is lambda nonlocal not or pass raise return try while with yield"
)
_DICTIONARY = (
    "__class__ __class_getitem__ __contains__ __delattr__ __delitem__ __dir__ __doc__ __eq__ __format__ "
    "__ge__ __getattribute__ __getitem__ __getstate__ __gt__ __hash__ __init__ __init_subclass__ __ior__ "
    "__iter__ __le__ __len__ __lt__ __ne__ __new__ __or__ __reduce__ __reduce_ex__ __repr__ __reversed__ "
    "__ror__ __setattr__ __setitem__ __sizeof__ __str__ __subclasshook__ clear copy fromkeys get items keys "
    "pop popitem setdefault update values"
)
_BUILTINS = (
    "ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError "
    "BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError "
    "ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning "
    "EnvironmentError Exception ExceptionGroup False FileExistsError FileNotFoundError FloatingPointError "
    "FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError IndexError "
    "InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError "
    "ModuleNotFoundError NameError None NotADirectoryError NotImplemented NotImplementedError OSError "
    "OverflowError PendingDeprecationWarning PermissionError ProcessLookupError RecursionError ReferenceError "
    "ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning "
    "SystemError SystemExit TabError TimeoutError True TypeError UnboundLocalError UnicodeDecodeError "
    "UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning "
    "ZeroDivisionError abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr "
    "classmethod compile complex delattr dict dir divmod enumerate eval exec filter float format frozenset "
    "getattr globals hasattr hash help hex id input int isinstance issubclass iter len list locals map max "
    "memoryview min next object oct open ord pow print property range repr reversed round set setattr slice "
    "sorted staticmethod str sum super tuple type vars zip"
)

KEYWORDS = frozenset(_KEYWORDS.split())
"""The keywords of Python 3.11."""
DICTIONARY = frozenset(_DICTIONARY.split())
"""The attributes of dictionaries in Python 3.11."""
BUILTINS = frozenset(_BUILTINS.split())
"""The functions, types and constants that Python 3.11 has without an import."""
