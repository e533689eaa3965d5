"""``python -m flymotion``: the same as the command ``flymotion``."""

from flymotion.cli import main

if __name__ == "__main__":
    main(prog_name="flymotion")
