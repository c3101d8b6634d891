import sys

from stats import mean


def main(words):
    if not words:
        print('usage: cli NUMBER...')
        return 2
    print(mean([float(word) for word in words]))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
