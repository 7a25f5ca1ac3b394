"""``python -m rulecover`` is the command ``rulecover``."""

from rulecover.cli.main import main

if __name__ == "__main__":
    main()
