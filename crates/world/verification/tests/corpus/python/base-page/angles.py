def normal(angle):
    return angle % 360
