! grep -rw tot cart.py report.py
