"""UniCRS (Wang et al., 2022): a frozen GPT-2 with learnt prompts. Import its submodules."""

__all__: list[str] = []
