import contextlib
import io
import unittest

import cli


class T(unittest.TestCase):
    def test_mean(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(cli.main(['1', '2']), 0)
        self.assertEqual(out.getvalue(), '1.5\n')

    def test_usage(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(cli.main([]), 2)
        self.assertIn('usage', out.getvalue())
