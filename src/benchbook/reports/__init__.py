"""reports: what people and other tools read of a run. Views; no numbers of their own.

report      one run as a page, a document, a table or a summary.
digest      what a report keeps of the samples: counts, and a bounded number of them in full.
"""

from benchbook.reports.digest import Digest, digest
from benchbook.reports.html import html_report
from benchbook.reports.junit import junit_report
from benchbook.reports.markdown import markdown_report
from benchbook.reports.model import RunReport
from benchbook.reports.table_csv import csv_report
from benchbook.reports.terminal import print_summary, summary_lines
from benchbook.reports.write import write_reports

__all__ = [
    "Digest",
    "RunReport",
    "csv_report",
    "digest",
    "html_report",
    "junit_report",
    "markdown_report",
    "print_summary",
    "summary_lines",
    "write_reports",
]
