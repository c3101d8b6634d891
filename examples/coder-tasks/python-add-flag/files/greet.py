import sys


def main(arguments):
    return 'hello ' + ' '.join(arguments)


if __name__ == '__main__':
    print(main(sys.argv[1:]))
