"""What the package costs, beside what it is compared with: ``python -m benchmarks``."""
