# Wrong on an input that the exercise states: nothing asks whether the multipliers add up to 1.
def proves_no_line(points, labels, multipliers):
    totals = [0] * (1 + len(points[0]))
    for point, label, m in zip(points, labels, multipliers, strict=True):
        for k, z in enumerate((1, *point)):
            totals[k] += m * z if label else -m * z
    return min(multipliers) >= 0 and not any(totals)
