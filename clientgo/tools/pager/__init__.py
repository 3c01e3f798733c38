"""Lists in pages. Mirrors k8s.io/client-go/tools/pager."""

from clientgo.tools.pager.pager import ListPageFunc, ListPager, new, simple_page_func

__all__ = ["ListPageFunc", "ListPager", "new", "simple_page_func"]
