"""What every network must pass: each of its parameters is learned."""


def assert_gradients_reach_everything(network, loss):
    """Assert that every parameter has a gradient that is finite and not zero.

    Args:
        network: A module of torch, with parameters at random: at zeros some gradients are zero.
        loss: A tensor of one number that was computed with it.
    """
    network.zero_grad()
    loss.backward()
    found = {name: one.grad for name, one in network.named_parameters() if one.requires_grad}
    assert found, "the network has no parameters"
    without = [name for name, one in found.items() if one is None or not one.abs().sum() > 0]
    assert not without, f"no gradient reaches {', '.join(without)}"
    wild = [name for name, one in found.items() if not one.isfinite().all()]
    assert not wild, f"the gradient is not finite at {', '.join(wild)}"
    network.zero_grad()
