"""Problems that this project generates itself: seeded, with train and eval splits kept apart."""
