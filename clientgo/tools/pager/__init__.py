"""Lists read in pages. Go: tools/pager."""

from clientgo.tools.pager.pager import ListPageFunc, ListPager, new, simple_page_func

__all__ = ["ListPageFunc", "ListPager", "new", "simple_page_func"]
