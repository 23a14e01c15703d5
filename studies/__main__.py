"""``python -m studies``: texts and figures of all studies again from their results, and the page that lists them."""

from studies.index import INDEX, STUDIES, page

for study in STUDIES:
    study.write_page(study.home)
INDEX.write_text(page(), encoding="utf-8")
