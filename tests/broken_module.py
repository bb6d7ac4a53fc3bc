"""A module that can't be imported: what a user's own may be."""

1 / 0  # noqa: B018
