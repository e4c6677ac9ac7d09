"""The page without a server: what the API would answer, written as files that a browser opens from any folder."""
