import os
import unittest
from unittest import mock

from stats import mean


class T(unittest.TestCase):
    def test_digits(self):
        with mock.patch.dict(os.environ, {"MEAN_DIGITS": "1"}):
            self.assertEqual(mean([1, 1, 2]), 1.3)
