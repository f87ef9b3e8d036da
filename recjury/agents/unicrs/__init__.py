"""UniCRS (Wang et al. 2022): a frozen GPT-2 led by prompts. Import the submodules."""

__all__: list[str] = []
