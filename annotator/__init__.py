"""The Django project: studies <- grading <- results <- api."""
